import { describe, expect, it } from 'vitest';
import { readConfigText } from '../../../protocol/config-text.ts';
import { formatFinding } from '../../../protocol/finding.ts';

const told = (evaluation: string, splits = '{}') =>
  readConfigText(
    `version: 1\nname: x\nharness: { adapter: tabletop-skills, suites: [tabletop_goal] }\nsplits: ${splits}\nevaluation: ${evaluation}\n`,
    'c.yaml',
  ).findings.map(formatFinding);

describe('states that checkpoints are chosen on', () => {
  it('may be validation states', () => {
    expect(told('{ selectionStates: 45-46 }')).toEqual([]);
    expect(told('{}')).toEqual([]);
  });

  it.each([
    [
      'an evaluation state, also where others are evaluated on',
      '{ states: 1, selectionStates: [9, 45] }',
      'c.yaml:5:43: error: state 9 is for evaluation: checkpoints may not be chosen on evaluation states',
    ],
    [
      'a state that is evaluated on, outside the splits',
      '{ states: 60, selectionStates: 60 }',
      'c.yaml:5:44: error: state 60 is for evaluation',
    ],
    ['training states', '{ selectionStates: 20-24 }', 'c.yaml:5:32: error: states 20-24 are for training'],
    ['a memory state', '{ selectionStates: 0 }', "c.yaml:5:32: error: state 0 is for the teacher's memory"],
  ])('may not be %s', (_name, evaluation, sentence) => {
    expect(told(evaluation).join('\n')).toContain(sentence);
  });

  it('are doubtful outside the validation states', () => {
    expect(told('{ selectionStates: [45, 70-72] }')).toEqual([
      'c.yaml:5:32: warning: states 70-72 are not in splits.validation (45-49), the states that are kept for choosing checkpoints [selection-outside-validation]',
    ]);
  });
});

describe('states of the final comparison', () => {
  it.each([
    ['training', '{ states: 20 }', 'evaluation states may not be training states'],
    ['memory', '{ states: 0 }', 'evaluation states may not be memory states'],
    ['validation', '{ states: 44-46 }', 'states 45-46 are for choosing checkpoints (splits.validation)'],
  ])('may not be %s states', (_name, evaluation, sentence) => {
    expect(told(evaluation).join('\n')).toContain(sentence);
  });
});
