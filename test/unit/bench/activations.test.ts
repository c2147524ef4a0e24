import { describe, expect, it } from 'vitest';
import { activationsIn } from '../../../bench/activations.ts';

const TEXT = `## Extension Activation Stats\r
\r
| Extension                       | Eager | Load Code | Call Activate | Finish Activate | Event                                           | By         |\r
| ------------------------------- | ----- | --------- | ------------- | --------------- | ----------------------------------------------- | ---------- |\r
| vscode.git                      | true  | 49        | 13            | 23              | *                                               | vscode.git |\r
| agentic-robo-rl.agentic-robo-rl | true  | 311       | 12            | 3               | workspaceContains:**/*.training.{yaml,yml,json} | itself     |\r
\r
| Name | Timestamp |\r
`;

describe('activations in the text of Startup Performance', () => {
  it('are read by the names of their columns', () => {
    expect(activationsIn(TEXT)).toEqual([
      { id: 'vscode.git', load: 49, call: 13, finish: 23 },
      { id: 'agentic-robo-rl.agentic-robo-rl', load: 311, call: 12, finish: 3 },
    ]);
  });

  it('are missed in words', () => {
    expect(() => activationsIn('## System Info')).toThrow('no table of activated extensions');
    expect(() => activationsIn(TEXT.replace('Load Code', 'Load'))).toThrow('no table of activated extensions');
  });
});
