/** Checkpoints and addresses that cannot be used, as `serve`, `proxy` and `train` tell them: one sentence, exit code 2. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initialisePlanner } from '../../trainer-daemon/planner/initialise.ts';
import { cli, startCli } from './cli-process.ts';

const CONFIG = `version: 1
name: given
planner: { checkpoint: ./planner }
harness: { adapter: tabletop-skills, suites: [tabletop_object_swap], tasks: { tabletop_object_swap: 0-1 }, limits: { responseTokens: 64 } }
`;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'arrl checkpoints ü-'));
  const init = { layers: 1, hidden: 32, intermediate: 48, heads: 2, kvHeads: 1, vocabulary: 300, context: 256 };
  await initialisePlanner(join(folder, 'sound'), init, ['move to the lamp'], 1);
  writeFileSync(join(folder, 'given.training.yaml'), CONFIG);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A fresh copy of the sound planner in `planner/`, with one JSON file changed. */
function damage(change: (at: (name: string) => string) => void): void {
  rmSync(join(folder, 'planner'), { recursive: true, force: true });
  cpSync(join(folder, 'sound'), join(folder, 'planner'), { recursive: true });
  change((name) => join(folder, 'planner', name));
}
type Json = Record<string, never> & {
  model: { type: string; vocab: Record<string, number> };
  added_tokens: { id: number; content: string }[];
};
function edit(file: string, change: (json: Json) => void): void {
  const json = JSON.parse(readFileSync(file, 'utf8')) as Json;
  change(json);
  writeFileSync(file, JSON.stringify(json));
}
const set = (file: string, values: Record<string, unknown>) => edit(file, (json) => Object.assign(json, values));

const UNUSABLE: [string, (at: (name: string) => string) => void, string][] = [
  ['no folder', (at) => rmSync(at('.'), { recursive: true }), 'planner: does not exist; give the folder'],
  ['no config.json', (at) => rmSync(at('config.json')), 'config.json: does not exist'],
  [
    'another architecture',
    (at) => set(at('config.json'), { architectures: ['LlamaForCausalLM'] }),
    'config.json: the architecture is LlamaForCausalLM; the embedded planner runs Qwen3ForCausalLM only',
  ],
  ['no weights', (at) => rmSync(at('model.safetensors')), 'model.safetensors: does not exist'],
  [
    'truncated weights',
    (at) => truncateSync(at('model.safetensors'), 9000),
    'model.safetensors: the file is cut short',
  ],
  ['no tokenizer', (at) => rmSync(at('tokenizer.json')), 'tokenizer.json: does not exist'],
  [
    'a vocabulary larger than the embedding',
    (at) => edit(at('tokenizer.json'), ({ added_tokens }) => added_tokens.push({ id: 900, content: '<|more|>' })),
    'tokenizer.json: foreign tokenizer: it has token ids up to 900',
  ],
  [
    'no end token',
    (at) => set(at('tokenizer_config.json'), { eos_token: '</s>' }),
    'tokenizer_config.json: eos_token is "</s>", which is no token of tokenizer.json',
  ],
  [
    'a tokenizer of another kind',
    (at) =>
      edit(at('tokenizer.json'), ({ model }) => {
        model.type = 'Unigram';
      }),
    'tokenizer.json: is no byte-level BPE',
  ],
  [
    'a damaged vocabulary',
    (at) =>
      edit(at('tokenizer.json'), ({ model }) => {
        model.vocab.a = null as never;
      }),
    'tokenizer.json: the token "a" has the id null',
  ],
  [
    'a broken chat template',
    (at) => writeFileSync(at('chat_template.jinja'), '{% for m in messages %}\n{{ m.content }'),
    'chat_template.jinja:2: the chat template is broken: {{ is never closed by }}',
  ],
  [
    'a number out of range',
    (at) => set(at('config.json'), { rms_norm_eps: -1 }),
    'config.json: rms_norm_eps is -1; it must be above 0',
  ],
];

/** Standard error without what the command says of itself. */
const sentence = (err: string) => err.trim().split('\n');

describe('an unusable checkpoint', () => {
  it.each(UNUSABLE)('%s: serve and train say so in one sentence and write nothing', async (_what, change, words) => {
    damage(change);
    const before = readdirSync(folder).sort();
    const served = await cli(folder, ['serve', 'planner']);
    expect([served.code, served.out, sentence(served.err)]).toEqual([2, '', [expect.stringContaining(words)]]);
    // What the config's check sees already it tells at its place in the config, with a line that sums up.
    const file = words.slice(0, words.indexOf(':'));
    for (const more of [['--run', 'never'], ['--dry-run']]) {
      const { code, out, err } = await cli(folder, ['train', 'given.training.yaml', ...more]);
      expect([code, out, err]).toEqual([2, '', expect.stringContaining(file)]);
      const [told, ...rest] = sentence(err);
      if (!told.includes('[missing-checkpoint]')) expect(told).toContain(words);
      expect(rest.filter((line) => !line.endsWith('nothing was started'))).toEqual([]);
    }
    expect(readdirSync(folder).sort()).toEqual(before);
  });
});

it('serve names the architecture before what else such a folder lacks', async () => {
  damage((at) => {
    set(at('config.json'), { architectures: ['LlamaForCausalLM'] });
    rmSync(at('tokenizer.json'));
    rmSync(at('model.safetensors'));
  });
  const { code, err } = await cli(folder, ['serve', 'planner']);
  expect([code, sentence(err)]).toEqual([2, [expect.stringContaining('the architecture is LlamaForCausalLM')]]);
});

describe('a checkpoint with something doubtful', () => {
  it('is served after a warning', async () => {
    damage((at) => rmSync(at('chat_template.jinja')));
    const running = startCli(folder, ['serve', 'planner', '--json']);
    await running.line(/"url"/);
    const { code, err } = await running.end('SIGINT');
    expect(code).toBe(0);
    expect(sentence(err)).toEqual([
      `warning: ${join(folder, 'planner', 'tokenizer_config.json')}: its chat_template is used, because chat_template.jinja does not exist`,
    ]);
  });

  it('is trained with the warning in the journal, once', async () => {
    damage((at) => rmSync(at('chat_template.jinja')));
    const running = startCli(folder, [
      'train',
      'given.training.yaml',
      '--run',
      'warned',
      '--stages',
      'teacher',
      '--json',
    ]);
    await running.line(/"stage-started"/);
    running.signal('SIGINT');
    await new Promise((done) => setTimeout(done, 50));
    const { code, out } = await running.end('SIGINT');
    expect(code).toBe(130);
    const told = out.split('\n').filter((line) => line.includes('"warning"'));
    expect(told).toEqual([
      expect.stringContaining('its chat_template is used, because chat_template.jinja does not exist'),
    ]);
  });

  it('is served when its vocabulary has holes', async () => {
    damage((at) => {
      const id = (token: number) => token + 40;
      edit(at('tokenizer.json'), ({ added_tokens }) => {
        for (const token of added_tokens) token.id = id(token.id);
      });
    });
    const { code, err } = await cli(folder, ['serve', 'planner']);
    // The ids moved beyond the embedding: still a sentence, not a crash.
    expect([code, sentence(err)]).toEqual([2, [expect.stringContaining('foreign tokenizer')]]);
    damage((at) => {
      edit(at('tokenizer.json'), (json) => {
        // The last merged token goes, and with it the merge that makes it.
        const merges = (json.model as unknown as { merges: string[] }).merges;
        delete json.model.vocab[(merges.pop() ?? '').replace(' ', '')];
      });
    });
    const running = startCli(folder, ['serve', 'planner', '--model', 'holed', '--json']);
    const { url } = JSON.parse(await running.line(/"url"/)) as { url: string };
    const body = JSON.stringify({
      model: 'holed',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 40,
      seed: 1,
    });
    const reply = await fetch(`${url}/chat/completions`, { method: 'POST', body });
    expect(reply.status).toBe(200);
    expect((await running.end('SIGINT')).err).toBe('');
  });
});

describe('an address that cannot be listened on', () => {
  let taken: Server;
  let port: number;
  beforeAll(async () => {
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    port = (taken.address() as { port: number }).port;
  });
  afterAll(() => new Promise((done) => taken?.close(done)));

  const proxy = [
    'proxy',
    '--upstream',
    'http://127.0.0.1:9',
    '--upstream-kind',
    'vllm',
    '--model',
    'm',
    '--record',
    'recorded',
  ];
  it.each<[string, string[]]>([
    ['serve', ['serve', 'sound']],
    ['proxy', proxy],
    ['proxy with a connection an episode', [...proxy, '--new-episode-per', 'connection']],
  ])('%s: says which and what to do, and leaves nothing behind', async (_what, command) => {
    const { code, err } = await cli(folder, [...command, '--port', String(port)]);
    expect([code, sentence(err)]).toEqual([
      2,
      [
        expect.stringContaining(
          `cannot listen on 127.0.0.1:${port}: another program uses port ${port}; give another port, or 0 for any free one (--port 0)`,
        ),
      ],
    ]);
    expect(readdirSync(folder)).not.toContain('recorded');
  });
});
