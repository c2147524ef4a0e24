/** The comparison of two runs sees every difference but those it names. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { train } from '../../trainer-daemon/training/index.ts';
import { quick, temporaryFolder } from '../integration/quick-run.ts';
import { differences, normalForm } from './normal-form.ts';

it('finds one changed byte in any file, and a file too many; clocks and the order of episodes it lets be', async () => {
  const folder = temporaryFolder();
  const run = join(folder, 'run');
  await train({ config: quick(), configFolder: folder, runDirectory: run });
  const before = normalForm(run);
  const copy = join(folder, 'copy');
  const changed = (change: () => void) => {
    rmSync(copy, { recursive: true, force: true });
    cpSync(run, copy, { recursive: true });
    change();
    return differences(before, normalForm(copy)).map((difference) => difference.split(/[,:]/)[0]);
  };
  const replace = (file: string, from: RegExp | string, to: string) => {
    const text = readFileSync(join(copy, file), 'utf8');
    expect(text.replace(from, to)).not.toBe(text);
    writeFileSync(join(copy, file), text.replace(from, to));
  };
  expect(changed(() => {})).toEqual([]);
  const edits: [string, RegExp, string][] = [
    ['rounds/0001/calls.jsonl', /"logprobs":\[-(\d)/, '"logprobs":[-1$1'],
    ['rounds/0001/episodes.jsonl', /"turns":1/, '"turns":2'],
    ['rounds/0001/samples.jsonl', /"advantage":/, '"advantage":0'],
    ['rounds/0001/scores.jsonl', /"logp":\[-(\d)/, '"logp":[-1$1'],
    ['rounds/0001/steps.jsonl', /"gradNorm":/, '"gradNorm":1'],
    ['sft/targets.jsonl', /"target"/, '"history-only"'],
    ['messages.jsonl', /"content":"/, '"content":"x'],
    ['journal.jsonl', /"groups":2/, '"groups":3'],
    ['policies/v0002/policy.json', /"parent": 1/, '"parent": 0'],
    ['evaluations/evaluation-v0002/summary.json', /"successes": 0/, '"successes": 1'],
  ];
  for (const [file, from, to] of edits) expect(changed(() => replace(file, from, to))).toEqual([file]);
  const weights = 'policies/v0002/model.safetensors';
  const flip = () => {
    const bytes = readFileSync(join(copy, weights));
    bytes[bytes.length - 5] ^= 1;
    writeFileSync(join(copy, weights), bytes);
  };
  expect(changed(flip)).toEqual([weights]);
  expect(changed(() => writeFileSync(join(copy, 'policies/v0002/optimizer.old'), ''))).toEqual([
    'policies/v0002/optimizer.old',
  ]);

  const later = () => {
    replace('rounds/0001/episodes.jsonl', /"seconds":/, '"seconds":1');
    replace('run.json', /"createdAt": "20/, '"createdAt": "21');
    const episodes = readFileSync(join(copy, 'teacher/episodes.jsonl'), 'utf8').trimEnd().split('\n');
    writeFileSync(join(copy, 'teacher/episodes.jsonl'), `${episodes.reverse().join('\n')}\n`);
  };
  expect(changed(later)).toEqual([]);
});
