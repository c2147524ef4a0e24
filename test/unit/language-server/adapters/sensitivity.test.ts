/** Good adapters made bad in one way each: whatever their style, the mistake is found. */
import { describe, expect, it } from 'vitest';
import { adapterFindings } from '../../../../language-server/service/adapters/index.ts';
import { corpus, shipped } from './corpus.ts';

const REWARD = /reward: [\w.]+ \? 1 : 0/g;
const mistakes: { code: string; find: RegExp; write: string; needs: RegExp; least: number }[] = [
  { code: 'adapter-wrong-type', find: /\bvalid: true\b/g, write: "valid: 'yes'", needs: /./, least: 20 },
  { code: 'adapter-unknown-field', find: /\breward: /g, write: 'rewrad: ', needs: /./, least: 25 },
  { code: 'adapter-missing-field', find: /, valid: true\b/g, write: '', needs: /./, least: 20 },
  {
    code: 'api-key-exposed',
    find: /args: \[(?!'run')/g,
    write: 'args: [episode.apiKey, ',
    needs: /launch: (async )?\(episode\b|launch\(episode\b/,
    least: 20,
  },
  {
    code: 'reward-from-planner',
    find: REWARD,
    write: "reward: output.calls.some((c) => c.toolCalls.some((t) => t.name === 'finish')) ? 1 : 0",
    needs: /outcome\(output|outcome: \(output/,
    least: 10,
  },
  {
    code: 'reward-not-a-number',
    find: REWARD,
    write: 'reward: Number(output.stdoutTail)',
    needs: /outcome\(output|outcome: \(output/,
    least: 10,
  },
  { code: 'outcome-not-deterministic', find: REWARD, write: 'reward: Date.now() > 5 ? 1 : 0', needs: /./, least: 10 },
];

describe('a good adapter made bad', () => {
  const good = [...corpus().filter((file) => !file.bad), ...shipped()];
  it.each(mistakes)('gives $code', ({ code, find, write, needs, least }) => {
    const changed = good.filter(({ text }) => text.search(find) >= 0 && needs.test(text));
    const missed = changed.filter(({ path, text }) => {
      const found = adapterFindings(text.replace(find, write), { fileName: path, budget: 60_000 });
      return !found.some((finding) => finding.code === code);
    });
    expect(missed.map(({ path }) => path)).toEqual([]);
    expect(changed.length).toBeGreaterThanOrEqual(least);
  });
});
