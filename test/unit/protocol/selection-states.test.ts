import { describe, expect, it } from 'vitest';
import { readConfigText } from '../../../protocol/config-text.ts';

const config = (selection: string) =>
  `version: 1\nname: x\nharness: { adapter: tabletop-skills, suites: [tabletop_goal] }\nevaluation: { selectionStates: ${selection} }\n`;

describe('states that checkpoints are chosen on', () => {
  it('may be validation states, not training or evaluation states', () => {
    expect(readConfigText(config('45-46')).findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(readConfigText(config('20')).findings.map(({ code, line }) => [code, line])).toContainEqual([
      'selection-on-training-states',
      4,
    ]);
    expect(readConfigText(config('1')).findings.map(({ code }) => code)).toContain('selection-on-evaluation-states');
  });
});
