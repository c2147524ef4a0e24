import { describe, expect, it } from 'vitest';
import {
  cellValues,
  outcomeValues,
  tracebackValues,
} from '../../../../../extension/replay/transcript/source-values.ts';
import type { ReplayAction } from '../../../../../recordings/replay/index.ts';
import { episode } from '../../../trainer-daemon/store/runs.ts';

const action = (fields: Partial<ReplayAction>): ReplayAction => ({
  ...{ kind: 'cell', index: 0, name: 'python', id: '', argumentText: '', arguments: null, code: '', result: null },
  ...{ answers: [], failed: false, exception: false, span: null },
  ...fields,
});

describe('values at lines of source files', () => {
  it('are the fields of an episode where its adapter gives them', () => {
    const source = [
      'const reward = 3;',
      'export default defineAdapter({',
      '  async outcome(output) {',
      '    // reward: not here',
      '    const { valid } = await output.readJson("x");',
      '    return { task, init: 3, reward: solved ? 1 : 0, valid, successTurn: null };',
      '  },',
      '});',
    ].join('\n');
    const values = outcomeValues(source, { ...episode('e0'), invalidReason: 'a\nb' });
    expect(values).toEqual([
      { line: 5, text: 'task = "s/0"' },
      { line: 5, text: 'init = 11' },
      { line: 5, text: 'reward = 1' },
      { line: 4, text: 'valid = true' },
      { line: 5, text: 'successTurn = null' },
    ]);
    expect(outcomeValues('const reward = 1', episode('e0'))).toEqual([]);
  });

  it('are the errors of tracebacks that name the file', () => {
    const result =
      'Traceback (most recent call last):\n  File "/harness/skills/pick.py", line 12, in pick\n  File "/x/other/pick.py", line 3\nValueError: no grasp\u202e\n';
    const actions = [action({ result, exception: true })];
    expect(tracebackValues('/home/me/harness/skills/pick.py', actions)).toEqual([
      { line: 11, text: 'ValueError: no grasp‹U+202E›' },
    ]);
    expect(tracebackValues('/home/me/harness/skills/place.py', actions)).toEqual([]);
  });

  it('are the result of a cell, at the line that raised it where one did', () => {
    const code = 'a = 1\nb = a / 0\nprint(b)\n';
    expect(cellValues(code, action({ result: 'one\ntwo' }))).toEqual([{ line: 2, text: 'one' }]);
    const raised =
      'Traceback (most recent call last):\n  File "<cell>", line 2, in <module>\nZeroDivisionError: division by zero';
    expect(cellValues(code, action({ result: raised, exception: true }))).toEqual([
      { line: 1, text: 'ZeroDivisionError: division by zero' },
    ]);
    // A line of a file is none of the cell, unless the harness writes its cells into files.
    const deeper = raised.replace(
      'ZeroDivisionError',
      '  File "/opt/arm/skills.py", line 3, in pick\nZeroDivisionError',
    );
    expect(cellValues(code, action({ result: deeper, exception: true }))).toMatchObject([{ line: 1 }]);
    const filed = 'Traceback (most recent call last):\n  File "/tmp/cell.py", line 3\nNameError: b';
    expect(cellValues(code, action({ result: filed, exception: true }))).toEqual([{ line: 2, text: 'NameError: b' }]);
    expect(cellValues(code, action({}))).toEqual([]);
  });
});
