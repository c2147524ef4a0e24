/** Recorded prompts rendered again by the program that does it for the editor. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PromptRenderer } from '../../extension/replay/transcript/prompts.ts';
import type { ResolvedCall } from '../../protocol/records.ts';
import { isDamaged, openRecording } from '../../recordings/index.ts';
import { bundlePath } from '../../trainer-daemon/bundles.ts';
import { EPISODES, MISMATCHED, recordTalk, SECTION } from '../workbench/recorded-talk.ts';
import { temporaryFolder } from './quick-run.ts';

async function talk() {
  const folder = join(temporaryFolder(), 'talk');
  await recordTalk(folder);
  const recording = await openRecording(folder);
  onTestFinished(() => recording.close());
  const calls: ResolvedCall[] = [];
  for (const record of await (await recording.calls(SECTION)).forEpisode(EPISODES[0])) {
    const call = isDamaged(record) ? record : await recording.resolveCall(record);
    if (isDamaged(call)) throw new Error(call.damaged);
    calls.push(call);
  }
  const renderer = new PromptRenderer(bundlePath('prompt-rendering'), () => process.execPath);
  return { folder, recording, calls, renderer };
}

describe('a prompt rendered again', () => {
  it('has the ids that were recorded, images included, and others where the record was another one', async () => {
    const { recording, calls, renderer } = await talk();
    expect(calls).toHaveLength(4);
    for (const call of calls) {
      const ids = await renderer.render(recording, call);
      expect(ids.length).toBeGreaterThan(100);
      if (call.turn === MISMATCHED) expect(ids).not.toEqual(call.promptTokenIds);
      else expect(ids).toEqual(call.promptTokenIds);
    }
  });

  it('says why it cannot be', async () => {
    const { folder, recording, calls, renderer } = await talk();
    const [call] = calls;
    const policy = join(folder, 'policies/v0001');
    const teachers = renderer.render(recording, { ...call, policyVersion: null });
    await expect(teachers).rejects.toThrow('no chat template here');
    writeFileSync(join(policy, 'chat_template.jinja'), '{{ raise_exception("no robots") }}');
    await expect(renderer.render(recording, call)).rejects.toThrow(/no robots/);
    rmSync(join(policy, 'tokenizer.json'));
    await expect(renderer.render(recording, call)).rejects.toThrow(/tokenizer\.json.*does not exist/);
    const gone = new PromptRenderer(join(folder, 'no-such-program.mjs'), () => process.execPath);
    await expect(gone.render(recording, call)).rejects.toThrow(/could not be rendered again: .*no-such-program/s);
  });
});
