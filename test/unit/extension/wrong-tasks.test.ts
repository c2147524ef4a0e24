/** A wrong task of tasks.json is told to the user, once for as long as the warning is there. */
import { expect, it, vi } from 'vitest';

const warnings: { text: string; close: () => void }[] = [];

vi.mock('vscode', () => ({
  workspace: { isTrusted: true },
  window: {
    showWarningMessage: (text: string) => new Promise<void>((close) => warnings.push({ text, close })),
  },
  l10n: { t: (text: string, ...words: string[]) => text.replace(/\{(\d)\}/g, (_, at) => words[Number(at)]) },
}));

const { CommandLineTasks } = await import('../../../extension/tasks/provider.ts');

it('a wrong task of tasks.json is told, once for as long as the warning is there', async () => {
  const logged: string[] = [];
  const provider = new CommandLineTasks({} as never, { error: (text: string) => logged.push(text) } as never);
  const resolve = (definition: object) => provider.resolveTask({ name: 'mine', definition } as never);
  const told = () => warnings.map(({ text }) => text.replaceAll('\\', ''));
  expect(resolve({ type: 'agentic-robo-rl', command: 'rm' })).toBeUndefined();
  resolve({ type: 'agentic-robo-rl', command: 'rm' });
  expect(told()).toEqual([expect.stringMatching(/tasks\.json, "mine": "command" is "rm"; it must be one of validate/)]);
  resolve({ type: 'agentic-robo-rl', command: 'train', file: 5 });
  expect(told()[1]).toMatch(/"file" must be a text/);
  expect(logged).toHaveLength(3);
  warnings[0].close();
  await new Promise((done) => setImmediate(done));
  resolve({ type: 'agentic-robo-rl', command: 'rm' });
  expect(told()).toHaveLength(3);
});
