import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownKeys, readConfigText } from '../../../protocol/config-text.ts';
import { formatFinding } from '../../../protocol/finding.ts';

const HEAD = 'version: 1\nname: demo\nharness: { adapter: tabletop-skills, suites: [tabletop_goal_swap] }\n';

/** Findings as the compiler-style lines a person reads. */
function lines(text: string, file = 'c.yaml'): string[] {
  return readConfigText(text, file).findings.map(formatFinding);
}
/** Position, code and the beginning of each sentence. */
function brief(text: string, file = 'c.yaml'): string[] {
  return lines(text, file).map((line) => line.slice(file.length + 1));
}

describe('a sound config', () => {
  it('is resolved with every default', () => {
    const { config, findings } = readConfigText(HEAD);
    expect(findings).toEqual([]);
    expect(config?.rl.clip).toEqual({ low: 0.2, high: 0.28, dual: 3 });
    expect(config?.splits.evaluation).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(config?.splits.training.length).toBe(34);
  });

  it('may be JSON, indented with tabs', () => {
    const text = '{\n\t"version": 1, "name": "demo",\n\t"harness": {\n\t\t"adapter": "a", "suites": ["s"] }\n}\n';
    expect(lines(text, 'c.json')).toEqual([]);
    expect(lines(text, 'c.yaml')).toEqual([]);
  });

  it('takes a preset beneath what is written', () => {
    const { config } = readConfigText(`${HEAD}preset: cap-x\nrl: { rounds: 3 }\n`);
    expect(config?.rl.rounds).toBe(3);
    expect(config?.rl.taskPool).toBe('solved-1-to-4-of-5');
    expect(config?.harness.limits.responseTokens).toBe(32768);
  });

  it('may use anchors, aliases and merges', () => {
    const { config, findings } = readConfigText(
      `${HEAD}sft: &steps { batch: 4, betas: [0.9, 0.99] }\nrl: { <<: *steps, batch: 8 }\n`,
    );
    expect(findings).toEqual([]);
    expect([config?.sft.batch, config?.rl.batch, config?.rl.betas]).toEqual([4, 8, [0.9, 0.99]]);
  });
});

describe('positions and sentences', () => {
  const cases: [string, string, string[]][] = [
    [
      'an unknown key, with the one that was meant',
      `${HEAD}rl:\n  rouns: 3\n`,
      ['5:3: error: unknown key "rouns"; did you mean "rounds"? [unknown-key]'],
    ],
    [
      'an unknown key that belongs elsewhere',
      `${HEAD}learningRate: 1\n`,
      [
        '4:1: error: unknown key "learningRate"; it belongs elsewhere: "sft.learningRate" or "rl.learningRate" [unknown-key]',
      ],
    ],
    [
      'a misspelt key deep in a section',
      `${HEAD}planner: { init: { lyers: 4 } }\n`,
      ['4:20: error: unknown key "lyers"; did you mean "layers"? [unknown-key]'],
    ],
    [
      'a misspelt key that belongs deeper in its section',
      `${HEAD}planner: { lyers: 4 }\n`,
      ['4:12: error: unknown key "lyers" in "planner"; did you mean "planner.init.layers"? [unknown-key]'],
    ],
    [
      'a misspelt key of another section',
      `${HEAD}serving: { warmupStep: 4 }\n`,
      ['4:12: error: unknown key "warmupStep" in "serving"; did you mean "sft.warmupSteps"? [unknown-key]'],
    ],
    [
      'a key of the top level in a section',
      `${HEAD}rl: { seed: 4 }\n`,
      ['4:7: error: unknown key "seed" in "rl"; it belongs at the top level [unknown-key]'],
    ],
    [
      'a misspelt key in a value that may be null',
      `${HEAD}trainer: { lora: { rnak: 8 } }\n`,
      [
        '4:12: error: "trainer.lora.rank" is required [missing-key]',
        '4:20: error: unknown key "rnak"; did you mean "rank"? [unknown-key]',
      ],
    ],
    [
      'a misspelt key in a mapping where either a mapping or a word may stand',
      `${HEAD}rl: { sampling: { topp: 1 }, clip: { hihg: 0.3 } }\n`,
      [
        '4:19: error: unknown key "topp"; did you mean "topP"? [unknown-key]',
        '4:38: error: unknown key "hihg"; did you mean "high"? [unknown-key]',
      ],
    ],
    [
      'a wrong type',
      `${HEAD}rl:\n  rounds: nine\n`,
      ['5:11: error: "rl.rounds" is "nine"; it must be a whole number, 0 or more [wrong-value]'],
    ],
    [
      'a number in quotes',
      `${HEAD}rl: { clip: { low: "0.2" } }\n`,
      [
        '4:20: error: "rl.clip.low" is "0.2"; it must be a number above 0 and below 1; write 0.2 without quotes [wrong-value]',
      ],
    ],
    [
      'a value out of its range',
      `${HEAD}rl: { sampling: { temperature: 9 } }\n`,
      ['4:32: error: "rl.sampling.temperature" is 9; it must be a number from 0 to 5 [wrong-value]'],
    ],
    [
      'a word that is none of the allowed',
      `${HEAD}trainer: { engine: onyx }\n`,
      [
        '4:20: error: "trainer.engine" is "onyx"; it must be one of onnx, tfjs, tinker; did you mean "onnx"? [wrong-value]',
      ],
    ],
    [
      'a preset nobody ships',
      `${HEAD}preset: rpnt\n`,
      ['4:9: error: "preset" is "rpnt"; it must be one of rpent, cap-x; did you mean "rpent"? [wrong-value]'],
    ],
    [
      'a duplicate key',
      `${HEAD}rl:\n  batch: 1\n  batch: 2\n`,
      ['6:3: error: "batch" is given twice; the first is on line 5 [duplicate-key]'],
    ],
    [
      'a missing key at the top',
      'version: 1\nharness: { adapter: a, suites: [b] }\n',
      ['1:1: error: "name" is required [missing-key]'],
    ],
    [
      'a missing key in a section, at the section',
      'version: 1\nname: x\nharness:\n  suites: [b]\n',
      ['3:1: error: "harness.adapter" is required [missing-key]'],
    ],
    [
      'an empty section',
      `${HEAD}sft:\nseed: 1\n`,
      ['4:1: error: "sft" is empty; give its keys, indented beneath it, or remove the line [wrong-value]'],
    ],
    [
      'overlapping splits, at the one that was written',
      `${HEAD}splits:\n  training: 10-44\n`,
      [
        '5:13: error: state 10 is in both "training" and "evaluation": a result on states that were trained or chosen on says nothing about new ones [overlapping-splits]',
      ],
    ],
    [
      'a bad state set',
      `${HEAD}splits: { training: 44-11 }\n`,
      ['4:21: error: "splits.training": the range 44-11 runs backwards; write 11-44 [wrong-value]'],
    ],
    [
      'a bad item of a state set',
      `${HEAD}splits: { evaluation: [1, two] }\n`,
      [
        '4:27: error: "splits.evaluation[1]": "two" is not a set of states such as 5, 11-44 or [0, 3, 11-44] [wrong-value]',
      ],
    ],
    [
      'yes for true',
      `${HEAD}serving: { deterministic: yes }\n`,
      ['4:27: error: "serving.deterministic" is "yes"; it must be true or false; YAML reads yes as text [wrong-value]'],
    ],
    [
      'too few attempts, with the reason',
      `${HEAD}rl: { attemptsPerGroup: 1 }\n`,
      [
        '4:25: error: "rl.attemptsPerGroup" is 1; it must be at least 2: the leave-one-out advantage (eq. 4) compares attempts of one group [attempts-below-two]',
      ],
    ],
    [
      'an item of a list',
      'version: 1\nname: x\nharness: { adapter: a, suites: [b, 3] }\n',
      ['3:36: error: "harness.suites[1]" is 3; it must be text [wrong-value]'],
    ],
    [
      'tasks of a suite that is not listed',
      'version: 1\nname: x\nharness: { adapter: a, suites: [b], tasks: { c: 1-2 } }\n',
      [
        '3:46: error: "c" is not among harness.suites (b); list it there, or remove its tasks [tasks-of-unlisted-suite]',
      ],
    ],
    [
      'tasks of a misspelt suite',
      'version: 1\nname: x\nharness: { adapter: a, suites: [goal_swap], tasks: { goal_swpa: 1-2 } }\n',
      [
        '3:54: error: "goal_swpa" is not among harness.suites (goal_swap); did you mean "goal_swap"? [tasks-of-unlisted-suite]',
      ],
    ],
    [
      'tasks without the suites they belong to',
      'version: 1\nname: x\nharness:\n  adapter: a\n  tasks: { b: 1-2, c: 0 }\n',
      [
        '3:1: error: "harness.suites" is required: "harness.tasks" only narrows down suites that are listed; add "suites: [b, c]" [missing-key]',
      ],
    ],
    [
      'a suite without tasks',
      'version: 1\nname: x\nharness: { adapter: a, suites: [b, c], tasks: { b: 1-2 } }\n',
      [
        '3:36: error: "harness.tasks" names no task of the suite "c"; name some, or remove the suite [suite-without-tasks]',
      ],
    ],
    [
      'tasks without a suite',
      'version: 1\nname: x\nharness: { adapter: a, suites: [b], tasks: [0, 1] }\n',
      [
        '3:44: error: "harness.tasks" is a list of 2; it must be all, or task indices for each suite, such as { SUITE: 0-4 } [wrong-value]',
      ],
    ],
    [
      'a bad set of tasks',
      'version: 1\nname: x\nharness: { adapter: a, suites: [b], tasks: { b: x } }\n',
      ['3:49: error: "harness.tasks.b": "x" is not a set of task indices such as 5, 0-4 or [0, 3, 7-9] [wrong-value]'],
    ],
    [
      'a planner served elsewhere',
      `${HEAD}serving: { upstream: vllm, url: "https://a/v1", model: m }\n`,
      [
        '4:22: error: this version cannot train a planner that vllm serves: it trains and evaluates planners it serves itself; write "upstream: embedded" and remove url and model [not-in-this-version]',
        '4:22: hint: vLLM gives raw log-probs unless it is started with --logprobs-mode processed_logprobs; eq. 6 needs those of the distribution the tokens were drawn from. "agentic-robo-rl doctor --upstream" tells which they are [raw-log-probs]',
      ],
    ],
    [
      'a teacher without a model name',
      `${HEAD}teacher: { upstream: openai, url: "https://a/v1" }\n`,
      ['4:22: error: teacher.model is required with upstream "openai" [missing-model]'],
    ],
    [
      'engines of later versions',
      `${HEAD}trainer: { engine: tinker, url: "https://a", lora: { rank: 8 } }\n`,
      [
        '4:20: error: the engine tinker is not in this version: use onnx (device: cpu, cuda or webgpu), which trains planners that fit one machine [not-in-this-version]',
        '4:52: error: low-rank training is not in this version: all weights are trained, or all but those named in trainer.freeze or rl.freeze; remove "lora" [not-in-this-version]',
      ],
    ],
    [
      'a value behind an alias, where it was written',
      `${HEAD}sft: &a { batch: 0 }\nrl: *a\n`,
      [
        '4:18: error: "sft.batch" is 0; it must be a whole number, 1 or more [wrong-value]',
        '4:18: error: "rl.batch" is 0; it must be a whole number, 1 or more [wrong-value]',
      ],
    ],
    [
      'a value that came by a merge',
      `${HEAD}sft: &a { batch: 2, epochs: 1 }\nrl:\n  <<: *a\n`,
      ['4:21: error: unknown key "epochs" in "rl"; it belongs elsewhere: "sft.epochs" [unknown-key]'],
    ],
    [
      'an alias without its anchor',
      `${HEAD}rl: *a\n`,
      ['4:5: error: no anchor "&a" stands before this alias [unknown-alias]'],
    ],
    [
      'an alias inside its own anchor',
      `${HEAD}rl: &a { clip: *a }\n`,
      ['4:16: error: "*a" lies inside its own anchor [recursive-alias]'],
    ],
    [
      'a merge of something else',
      `${HEAD}rl: { <<: 3 }\n`,
      ['4:7: error: "<<" takes an alias of a mapping, or a list of such [yaml-merge]'],
    ],
    [
      'a tab',
      `${HEAD}rl:\n\trounds: 3\n`,
      ['5:1: error: a tab indents this line; YAML allows only spaces there [yaml-syntax]'],
    ],
    [
      'an open quote',
      `${HEAD}planner: { checkpoint: "x }\nseed: 1\n`,
      ['4:24: error: this quoted text has no closing quote [yaml-syntax]'],
    ],
    ['a missing space', `${HEAD}seed:1\n`, ['4:1: error: a space is missing after the colon [yaml-syntax]']],
    [
      'a second document',
      `${HEAD}---\nseed: 1\n`,
      [
        '4:1: error: a second document begins here; a training config is one document, without "---" inside [yaml-syntax]',
      ],
    ],
    [
      'an empty file',
      '',
      [
        '1:1: error: the file is empty; a training config has at least version, name and harness [config-not-a-mapping]',
      ],
    ],
    [
      'a list',
      '- a\n',
      ['1:1: error: a training config is a mapping of keys to values, such as "version: 1" [config-not-a-mapping]'],
    ],
    [
      'evaluation on no state',
      `${HEAD}evaluation: { states: [] }\n`,
      ['4:23: error: "states" has no states; leave it out for those of splits.evaluation [empty-split]'],
    ],
    [
      'checkpoints chosen on no state',
      `${HEAD}evaluation: { selectionStates: [] }\n`,
      ['4:32: error: "selectionStates" has no states; leave it out for those of splits.validation [empty-split]'],
    ],
    [
      'nothing to train and to validate on',
      `${HEAD}splits: { training: [], validation: [] }\n`,
      ['4:21: error: "training" has no states [empty-split]', '4:37: error: "validation" has no states [empty-split]'],
    ],
    [
      'a learning rate that no training survives',
      `${HEAD}sft: { learningRate: 1e18 }\n`,
      [
        '4:22: error: "sft.learningRate" is 1000000000000000000; it must be at most 1; usual are 1e-6 to 1e-4 for a trained planner, 1e-4 to 4e-3 for a small fresh one [wrong-value]',
      ],
    ],
    [
      'a number that is neither whole nor in its range, once',
      `${HEAD}seed: 99999999999999999999\n`,
      ['4:7: error: "seed" is 100000000000000000000; it must be a whole number from 0 to 2147483647 [wrong-value]'],
    ],
    [
      'a bracket too many',
      `${HEAD}rl: {rounds: 2}}\n`,
      ['4:16: error: this "}" closes nothing: no "{" is open here [yaml-syntax]'],
    ],
    [
      'a list before the keys',
      '- a\nname: x\nseed: 1\n',
      [
        '2:1: error: the file begins as a list ("- ..."), and keys cannot follow one: a training config is a mapping of keys to values [yaml-syntax]',
      ],
    ],
    [
      'words behind a text in quotes',
      `${HEAD}planner: { checkpoint: "a" b }\nrl: "a" b\n`,
      [
        '4:28: error: "b" stands behind a value that has ended; begin a new line, or put the whole value in quotes [yaml-syntax]',
        '5:9: error: "b" stands behind a value that has ended; begin a new line, or put the whole value in quotes [yaml-syntax]',
      ],
    ],
    [
      'a time with its unit',
      `${HEAD.replace(' }', ', limits: { seconds: 10m } }')}`,
      [
        '3:87: error: "harness.limits.seconds" is "10m"; it must be a number above 0; it is in seconds; write 600 [wrong-value]',
      ],
    ],
    [
      'a count in thousands, and with its name',
      `${HEAD}rl: { maxTokens: 32k, batch: 64 samples, rounds: 1k, passes: 2m }\n`,
      [
        '4:18: error: "rl.maxTokens" is "32k"; it must be a whole number, 1 or more; it is in tokens; write 32768 [wrong-value]',
        '4:30: error: "rl.batch" is "64 samples"; it must be a whole number, 1 or more; write 64 [wrong-value]',
        '4:50: error: "rl.rounds" is "1k"; it must be a whole number, 0 or more; write 1000 [wrong-value]',
        '4:62: error: "rl.passes" is "2m"; it must be a whole number, 1 or more [wrong-value]',
      ],
    ],
    [
      'a section as one word',
      `${HEAD}rl:\n  rounds:2\n`,
      [
        `5:3: error: "rl" is "rounds:2"; it must be a mapping with the keys ${knownKeys(['rl']).join(', ')}; a space is missing after "rounds:" [wrong-value]`,
      ],
    ],
    [
      'a key and its value as one word',
      `${HEAD}rl: {rounds:2, bach:3}\n`,
      [
        '4:6: error: unknown key "rounds:2"; a space is missing after the colon: write "rounds: 2" [unknown-key]',
        '4:16: error: unknown key "bach:3"; a space is missing after the colon: write "bach: 3"; did you mean "batch"? [unknown-key]',
      ],
    ],
    [
      'an address with a port',
      `${HEAD}serving: { proxy: { listen: "0.0.0.0:80" } }\n`,
      [
        '4:29: error: "serving.proxy.listen" is "0.0.0.0:80"; it must be an address or host name without a port; the port is chosen anew each time [wrong-value]',
      ],
    ],
  ];
  it.each(cases)('%s', (_name, text, expected) => {
    expect(brief(text)).toEqual(expected);
    expect(readConfigText(text).config).toBeUndefined();
  });

  it.each(['sglang', 'llamacpp', 'openai'])('refuses a planner served by %s', (upstream) => {
    const [line] = brief(`${HEAD}serving: { upstream: ${upstream}, url: "https://a/v1", model: m }\n`);
    expect(line).toContain(`4:22: error: this version cannot train a planner that ${upstream} serves`);
  });

  it('refuses the engine tfjs', () => {
    expect(brief(`${HEAD}trainer: { engine: tfjs }\n`)[0]).toContain('4:20: error: the engine tfjs is not in this');
  });

  it('does not repeat a secret', () => {
    const [line] = brief(`${HEAD}teacher: { apiKeyEnvironment: sk-very-secret }\n`);
    expect(line).toContain('the name of an environment variable');
    expect(line).not.toContain('sk-very');
  });

  it('underlines exactly the value', () => {
    const [finding] = readConfigText(`${HEAD}rl:\n  rounds: nine # often\n`).findings;
    expect([finding.line, finding.column, finding.endLine, finding.endColumn]).toEqual([5, 11, 5, 15]);
    expect(finding.path).toBe('rl.rounds');
  });

  it('counts the same with CRLF, CR and a byte-order mark', () => {
    const text = `${HEAD}rl:\n  rounds: nine\n`;
    const expected = brief(text);
    expect(brief(`\uFEFF${text}`)).toEqual(expected);
    expect(brief(text.replaceAll('\n', '\r\n'))).toEqual(expected);
    expect(brief(`\uFEFF${text.replaceAll('\n', '\r')}`)).toEqual(expected);
  });

  it('finds a key in the query of a URL, and no key where none is', () => {
    const found = (query: string) => {
      const line = `teacher: { upstream: openai, model: m, url: "https://h.org/v1?${query}" }`;
      return readConfigText(`${HEAD}${line}\n`)
        .findings.filter(({ code }) => code === 'secret-in-config')
        .map(({ column, endColumn }) => line.slice(column - 1, endColumn - 1));
    };
    expect(found('api_key=abcdef1234567890abcdef')).toEqual(['abcdef1234567890abcdef']);
    expect(found('v=2&key=a8Ksd93kdkALs03kdk&x=1')).toEqual(['a8Ksd93kdkALs03kdk']);
    expect(found('x-access-token=ksjdhfksjdhf')).toEqual(['ksjdhfksjdhf']);
    expect(found('token=hf_abcdefghijklmnopqrstuv')).toEqual(['hf_abcdefghijklmnopqrstuv']);
    for (const fine of [
      'key=planner-of-the-left-arm',
      'api_key=YOUR_KEY_HERE',
      'tokens=4096000000',
      'max_token=$TOKEN_HERE',
    ])
      expect(found(fine)).toEqual([]);
  });

  it('finds secrets of headers, of commands in comments and of more makers, and none in talk of them', () => {
    const found = (comment: string) =>
      readConfigText(`${HEAD}# ${comment}\n`).findings.map(({ code, line }) => `${line} ${code}`);
    for (const secret of [
      `gsk_${'aB3'.repeat(12)}`,
      `xai-${'aB3'.repeat(12)}`,
      `tml-${'aB3'.repeat(12)}`,
      `r8_${'aB3'.repeat(12)}`,
      'export OPENAI_API_KEY=Q9x8Kd03kslA',
      'HF_TOKEN="Q9x8Kd03kslA" agentic-robo-rl train x',
      '-H "Authorization: Bearer Q9x8Kd03kslA"',
      'headers: { Authorization: Q9x8Kd03kslAsd }',
    ])
      expect([secret, ...found(secret)]).toEqual([secret, '4 secret-in-config']);
    for (const fine of [
      'export OPENAI_API_KEY=$(pass show openai-2)',
      'export OPENAI_API_KEY=<your key, 51 letters>',
      'OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxx',
      'MAX_TOKEN=4096, MODEL_KEY=planner-of-the-left-arm',
      'authorization: bearer authentication is used',
      'Authorization: Bearer $OPENAI_API_KEY_2',
      'gsk_small, xai-planner, r8_x',
    ])
      expect([fine, ...found(fine)]).toEqual([fine]);
  });

  it('says nothing of rollouts where there are none', () => {
    const codes = (rounds: number) =>
      readConfigText(`${HEAD}rl: { rounds: ${rounds}, sampling: { topK: 5 }, clip: { dual: 1.1 }, maxTokens: 64 }\n`)
        .findings.map(({ code }) => code)
        .sort();
    expect(codes(1)).toEqual(['dual-clip-low', 'rollout-sampling', 'sample-limit-low']);
    expect(codes(0)).toEqual([]);
  });

  it.each([
    ['localhost', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['0:0:0:0:0:0:0:1', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:10.0.0.1', false],
    ['0.0.0.0', false],
    ['::', false],
    ['127.0.0.1.example.org', false],
  ])('listening on %s: only this machine: %s', (address, own) => {
    const codes = readConfigText(`${HEAD}serving: { proxy: { listen: "${address}" } }\n`).findings.map((f) => f.code);
    expect(codes).toEqual(own ? [] : ['proxy-not-loopback']);
  });

  it('tells several errors of a broken JSON text at once', () => {
    const text = (separator: string, rest: string) =>
      `{"version":1,"name":"x","harness":{"adapter":"a/b.ts","suites":["s"]}${separator}"rl":{"rounds":-1},\n${rest}}`;
    const told = (json: string) =>
      readConfigText(json, 'c.json').findings.map(({ line, column, code }) => `${line}:${column} ${code}`);
    const sft = '"sft":{"epochs":"3","batchh":2}';
    // What stands beside a mistake is read whatever the mistake.
    for (const [separator, at] of [
      [',\n// why\n', '2:1'],
      [',\n"seed":1\n', '3:1'],
      [',\n"seed": ,\n', '2:9'],
      [',\n"seed" 1,\n', '2:8'],
      [',\nseed:1,\n', '2:1'],
      [',\n"seed":1,,\n', '2:10'],
      [',\n"seed: 1,\n', '2:1'],
    ] as const)
      expect([separator, ...told(text(separator, `"trainer":{"enginee":1},\n${sft}`))]).toEqual([
        separator,
        `${at} json-syntax`,
        '3:16 wrong-value',
        '4:12 unknown-key',
        '5:17 wrong-value',
        '5:21 unknown-key',
      ]);
  });

  it('tells what stands on one line of JSON beside mistakes', () => {
    const json =
      '{"version":1,"name":"x","harness":{"adapter":"a/b.ts","suites":["s",]},"rl":{"rounds":2,"rounds":1,"rouns":3,}';
    expect(readConfigText(json, 'c.json').findings.map(({ column, code }) => `${column} ${code}`)).toEqual([
      '68 json-syntax',
      '89 duplicate-key',
      '100 unknown-key',
      '109 json-syntax',
      '111 json-syntax',
    ]);
  });

  it('tells of overlapping splits beside broken YAML, unless the split may stand in what broke', () => {
    const codes = (splits: string) =>
      readConfigText(
        `${HEAD}rl:\n  sampling: { topK: 1,\nsft:\n  epochs: 2\nsplits:\n  training: 5-12\n${splits}`,
      ).findings.map(({ code }) => code);
    expect(codes('')).toContain('overlapping-splits');
    expect(codes('  evaluation: 12-14\n')).toContain('overlapping-splits');
    expect(codes('evaluation: [\n')).not.toContain('overlapping-splits');
  });

  it('tells one mistake once', () => {
    const dashes = brief(`${HEAD}rl: - - 1\n`).map((told) => told.split(' ')[0]);
    expect(new Set(dashes).size).toBe(dashes.length);
    expect(brief(`${HEAD}rl:\n  rounds: -1\n   batch: 4\n\ttab: 1\n`).filter((l) => l.startsWith('5:'))).toHaveLength(
      1,
    );
  });

  it('tells several errors of a broken text at once', () => {
    expect(
      brief(`${HEAD}rl:\n  rounds: nine\n\tbatch: 3\nseed: -1\ntrainer: { engine: onyx }\n`).map((l) => l.slice(0, 5)),
    ).toEqual(['5:11:', '6:1: ', '7:7: ', '8:20:']);
  });

  it('tells errors between keys beside wrong values', () => {
    const { findings } = readConfigText(
      `${HEAD}rl: { batch: 0 }\nsplits: { training: 1-44 }\ntrainer: { engine: tinker }\n`,
    );
    expect(findings.map((f) => f.code)).toEqual(['wrong-value', 'overlapping-splits', 'not-in-this-version']);
  });
});

describe('hostile text', () => {
  it.each([
    ['a NUL', 'version: 1\nname: a\0b\n', '2:8:', 'control-character'],
    ['bytes that are not UTF-8', 'version: \uFFFD\n', '1:10:', 'control-character'],
    ['five megabytes', 'a: 1\n'.repeat(1_000_000), '1:1:', 'config-too-large'],
    ['10,000 brackets', '['.repeat(10_000), '1:65:', 'nested-too-deep'],
    ['10,000 mappings', '{a: '.repeat(10_000), '1:', 'nested-too-deep'],
    ['10,000 dashes', '- '.repeat(10_000), '1:', 'nested-too-deep'],
  ])('%s', (_name, text, position, code) => {
    const [line, ...more] = brief(text);
    expect(more).toEqual([]);
    expect(line.startsWith(position)).toBe(true);
    expect(line.endsWith(`[${code}]`)).toBe(true);
  });

  it('a bomb of aliases costs nothing', () => {
    let bomb = `${HEAD}a0: &a0 [${'x,'.repeat(9)}x]\n`;
    for (let i = 1; i < 30; i++) bomb += `a${i}: &a${i} [${`*a${i - 1},`.repeat(9)}*a${i - 1}]\n`;
    const { findings, config } = readConfigText(bomb);
    expect(config).toBeUndefined();
    expect(findings.filter((f) => f.code === 'alias-expansion').map((f) => [f.line, f.column])).toEqual([[8, 10]]);
  });

  it('nine thousand keys are told as a hundred findings and a count', () => {
    const text = HEAD + Array.from({ length: 9_000 }, (_, i) => `k${i}: 1\n`).join('');
    const { findings } = readConfigText(text);
    expect(findings.length).toBe(101);
    expect(findings[100].message).toBe('there are 8,900 further problems from here on');
  });

  it.each([
    ['keys', HEAD + Array.from({ length: 50_000 }, (_, i) => `k${i}: 1\n`).join('')],
    ['states', `${HEAD}splits: { training: [${Array.from({ length: 35_000 }, (_, i) => i).join(', ')}] }\n`],
    ['texts in quotes', `${HEAD}harness2: [${'"a", '.repeat(30_000)}]\n`],
  ])('more %s than a config has are not read', (_what, text) => {
    const { findings, document } = readConfigText(text);
    expect(findings.map((f) => [f.code, f.message])).toEqual([
      [
        'config-too-large',
        'the file has more than 20,000 keys and values; a training config has far fewer: write sets of states as ranges, such as 11-44',
      ],
    ]);
    expect(document).toBeUndefined();
  });

  it.each([
    ['name: !!binary aGVsbG8=', '2:16', 'binary data'],
    ['name: demo\nteacher: !!binary aGVsbG8=', '3:19', 'binary data'],
    ['name: demo\nsplits: { training: [1, !!binary aGVsbG8=] }', '3:34', 'binary data'],
    ['name: demo\nsplits: !!timestamp 2001-01-01', '3:21', 'a time stamp'],
    ['name: demo\nteacher: &a !!binary aGVsbG8=\nsft: *a', '3:22', 'binary data'],
  ])('what a tag makes of %j is told once', (lines, place, what) => {
    expect(brief(`version: 1\n${lines}\nharness: { adapter: tabletop-skills, suites: [tabletop_goal] }\n`)).toEqual([
      `${place}: error: ${what} has no place in a config; remove the tag before it [wrong-value]`,
    ]);
  });

  it('nine thousand keys that are given twice, too', () => {
    const { findings } = readConfigText(`{${'"a" 1, '.repeat(9_000)}}`, 'c.json');
    expect(findings).toHaveLength(101);
    expect(findings[100].code).toBe('more-problems');
  });

  it('one problem more than are shown is one problem', () => {
    const text = HEAD + Array.from({ length: 101 }, (_, i) => `k${i}: 1\n`).join('');
    expect(readConfigText(text).findings[100].message).toBe('there is 1 further problem from here on');
  });

  it('a long list of long ranges is not counted out number by number', () => {
    const { findings } = readConfigText(`${HEAD}splits: { memory: [${'0-100000,'.repeat(15_000)}0] }\n`);
    expect(findings.map((f) => f.code)).toContain('overlapping-splits');
  });

  it('__proto__ is a key like any other', () => {
    expect(readConfigText(`${HEAD}__proto__: { a: 1 }\n`).findings.map((f) => f.code)).toEqual(['unknown-key']);
    expect(readConfigText(`${HEAD}rl: { __proto__: { batch: 1 } }\n`).findings.map((f) => f.code)).toEqual([
      'unknown-key',
    ]);
  });

  it('whatever the text, there is a config or an error inside the text', () => {
    const whole = `${HEAD}sft: &a { batch: 4 }\nrl: { <<: *a, clip: { low: 0.1 } }\nsplits: { training: [11, 12-44] }\n`;
    const piece = fc.constantFrom(
      '\t',
      '"',
      "'",
      '[',
      ']',
      '{',
      '}',
      ':',
      '- ',
      '\n',
      '\r',
      '&a ',
      '*a',
      '<<: ',
      '#',
      '!!x ',
      '|',
      '>',
      '?',
      ',',
      '%',
      '\0',
      '\u2028',
      '💡',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(whole.length), fc.nat(6), piece), { maxLength: 5 }), (edits) => {
        let text = whole;
        for (const [at, cut, insert] of edits) text = text.slice(0, at) + insert + text.slice(at + cut);
        const { config, findings } = readConfigText(text);
        expect(config === undefined).toBe(findings.some((f) => f.severity === 'error'));
        const rows = text.split(/\r\n|\r|\n/);
        for (const f of findings) {
          expect(f.line).toBeLessThanOrEqual(rows.length);
          expect(f.column).toBeLessThanOrEqual(rows[f.line - 1].length + 1);
          expect(f.endLine * 1e6 + f.endColumn).toBeGreaterThanOrEqual(f.line * 1e6 + f.column);
          expect(f.message).toMatch(/\S/);
        }
      }),
      { numRuns: 400 },
    );
  });
});
