import { expect, it } from 'vitest';
import { readDefinition, taskArguments, taskName } from '../../../extension/tasks/definition.ts';

it('reads tasks as they are written, and says what is wrong with one', () => {
  const written = { type: 'agentic-robo-rl', command: 'train', file: 'a b.training.yaml', args: ['--rounds', '2'] };
  const words = readDefinition(written);
  expect(words).toEqual({ command: 'train', file: 'a b.training.yaml', args: ['--rounds', '2'] });
  expect(typeof words === 'string' ? [] : taskArguments(words)).toEqual([
    ...['train', 'a b.training.yaml', '--rounds', '2'],
  ]);
  expect(taskName({ command: 'doctor' })).toBe('doctor');
  expect(readDefinition({ command: 'destroy' })).toMatch(/"command" is "destroy"; it must be one of validate, train/);
  expect(readDefinition({})).toMatch(/"command" is undefined/);
  expect(readDefinition({ command: 'train', file: 3 })).toBe('"file" must be a text');
  expect(readDefinition({ command: 'train', args: ['--rounds', 2] })).toBe('"args" must be a list of texts');
});
