/** Finds out whether planner calls to a server can be trained on, by asking it a few short questions. */
import { captureProblem } from '../trainability.ts';
import type { UpstreamKind } from '../upstreams/client.ts';
import { baseUrl, CLIENTS, serverRoot } from '../upstreams/create.ts';
import { type DetectedUpstream, detectUpstream } from '../upstreams/detect.ts';
import { record } from '../upstreams/shapes.ts';
import { ask, type Candidate, type ProbeAnswer, probeChat, type Server } from './probe-chat.ts';
import { rescore } from './rescoring.ts';

export interface UpstreamFinding {
  name: string;
  /** `missing` is fine for a teacher, not for the planner under training. */
  state: 'ok' | 'warning' | 'missing' | 'error';
  detail: string;
  advice?: string;
}

export interface ExaminationOptions {
  url: string;
  apiKey: string | null;
  /** Undefined: found out. */
  kind?: UpstreamKind;
  /** Undefined: the first one that the server lists. */
  model?: string;
  /** Renders a prompt as the trainer does, when there is a checkpoint to hold the server against. */
  renderPrompt?: (request: { messages: unknown[]; tools: unknown[] | null }) => number[];
}

const QUESTION = [{ role: 'user', content: 'Name three things that lie on a kitchen table.' }];
const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'pick',
      description: 'Picks an object up.',
      parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
  },
];
/** A conversation with every kind of message that harnesses send. */
const CONVERSATION = [
  { role: 'system', content: 'You move a robot arm.' },
  { role: 'user', content: 'Pick the red cup.' },
  {
    role: 'assistant',
    content: 'I pick it.',
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'pick', arguments: '{"name": "red cup"}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'It slipped.' },
];
const TOKENS = 8;
/** Servers compute in half precision and in batches; an offset by one token is off by far more. */
const TOLERANCE = 0.3;

/** All findings, in the order they are told. Never throws: a server that cannot be asked is a finding. */
export async function examineUpstream(options: ExaminationOptions): Promise<UpstreamFinding[]> {
  let detected: DetectedUpstream;
  try {
    detected = await detectUpstream(options.url, options.apiKey);
  } catch (error) {
    return [
      {
        name: 'server',
        state: 'error',
        detail: (error as Error).message,
        advice: 'check the address, that the server runs, and its key (--api-key-environment)',
      },
    ];
  }
  const kind = options.kind ?? detected.kind;
  const client = CLIENTS[kind];
  const base = baseUrl(options.url);
  const model = options.model ?? detected.models[0] ?? '';
  const server: Server = { client, base, root: serverRoot(base), model, apiKey: options.apiKey };
  const version = detected.version === null || detected.kind !== kind ? '' : ` ${detected.version}`;
  const findings: UpstreamFinding[] = [
    {
      name: 'server',
      state: 'ok',
      detail: `${client.title}${version}: ${options.kind ? 'as you say' : detected.evidence}`,
    },
    modelFinding(model, detected.models),
  ];
  const probes = [
    ['token ids', () => tokenIds(server)],
    ['token ids in streams', () => streamedIds(server)],
    ['log-probs', () => sampledDistribution(server)],
    ['alignment', () => alignment(server)],
    ['policy version', () => policyVersion(server)],
    ['chat template', () => chatTemplate(server, options.renderPrompt)],
  ] as const;
  for (const [name, probe] of probes) {
    try {
      findings.push({ name, ...(await probe()) });
    } catch (error) {
      findings.push({ name, state: 'error', detail: (error as Error).message.slice(0, 400) });
    }
  }
  return findings;
}

type Verdict = Omit<UpstreamFinding, 'name'>;

function modelFinding(model: string, models: string[]): UpstreamFinding {
  const name = 'model';
  if (model === '') return { name, state: 'error', detail: 'the server lists none', advice: 'name one with --model' };
  return models.includes(model)
    ? { name, state: 'ok', detail: model }
    : { name, state: 'warning', detail: `${model} is not among those listed: ${models.slice(0, 10).join(', ')}` };
}

const teacherOnly: Verdict = {
  state: 'missing',
  detail: 'none: calls to this server can be read and taught from, not trained on by reinforcement learning',
  advice: 'for the planner under training use vLLM, SGLang, llama.cpp or the embedded planner',
};

async function tokenIds(server: Server): Promise<Verdict> {
  if (!server.client.capturesTokens) return teacherOnly;
  const { completion } = await probeChat(server, { messages: QUESTION, maxTokens: TOKENS, temperature: 1 });
  const problem = captureProblem(completion, server.client);
  if (problem !== null)
    return { state: 'error', detail: `calls cannot be trained on: ${problem}`, advice: newer(server.client.kind) };
  const { promptTokenIds, responseTokenIds } = completion;
  return {
    state: 'ok',
    detail: `${promptTokenIds?.length} of the prompt and ${responseTokenIds?.length} of the response, with a log-prob each`,
  };
}

function newer(kind: UpstreamKind): string {
  if (kind === 'vllm') return 'vLLM 0.10.2 and newer return token ids (return_token_ids)';
  if (kind === 'sglang') return 'take a build of SGLang whose chat completions know return_token_ids';
  return 'take a newer build of the server';
}

async function streamedIds(server: Server): Promise<Verdict> {
  if (!server.client.capturesTokens) return teacherOnly;
  if (server.client.asksWhole({}))
    return { state: 'ok', detail: 'whole replies are asked for and streamed on, because streams tell less' };
  const { completion } = await probeChat(server, {
    messages: QUESTION,
    maxTokens: TOKENS,
    temperature: 1,
    stream: true,
  });
  // Where the prompt's ids are asked for apart, no stream could tell them: any stand for them in this check.
  const prompt = completion.promptTokenIds ?? (server.client.promptTokens ? [0] : null);
  const problem = captureProblem({ ...completion, promptTokenIds: prompt, usage: null }, server.client);
  return problem === null
    ? { state: 'ok', detail: `${completion.responseTokenIds?.length} of the response, with a log-prob each` }
    : { state: 'error', detail: `streamed calls cannot be trained on: ${problem}`, advice: newer(server.client.kind) };
}

/**
 * Twice the temperature halves the difference of two tokens' log-probs, if they are those of the sampled distribution;
 * log-probs of the model itself do not move.
 */
async function sampledDistribution(server: Server): Promise<Verdict> {
  if (!server.client.capturesTokens) return teacherOnly;
  const first = async (temperature: number) =>
    (await probeChat(server, { messages: QUESTION, maxTokens: 1, temperature, top: 5 })).positions[0]?.top ?? [];
  const [cool, warm] = [await first(1), await first(2)];
  const gaps = cool
    .flatMap((a) => cool.map((b) => [gap(cool, a, b), gap(warm, a, b)]))
    .filter((pair): pair is [number, number] => pair[0] !== undefined && pair[1] !== undefined)
    .sort((a, b) => b[0] - a[0]);
  if (gaps.length === 0 || gaps[0][0] < 0.05)
    return { state: 'warning', detail: 'could not be told: the server names no two tokens of different log-prob' };
  const ratio = gaps[0][1] / gaps[0][0];
  const measured = `twice the temperature makes a difference of log-probs ${ratio.toFixed(2)} times as large`;
  if (Math.abs(ratio - 0.5) < 0.12) return { state: 'ok', detail: `of the sampled distribution: ${measured}` };
  if (Math.abs(ratio - 1) < 0.12)
    return {
      state: 'error',
      detail: `of the model before the sampling settings: ${measured}`,
      advice:
        server.client.kind === 'vllm'
          ? 'start vLLM with --logprobs-mode processed_logprobs'
          : 'train only with temperature 1, top-p 1 and top-k -1 on this server, or take another',
    };
  return { state: 'error', detail: `neither of the sampled distribution nor of the model: ${measured}` };
}

function gap(candidates: Candidate[], a: Candidate, b: Candidate): number | undefined {
  const find = (token: string) => candidates.find((each) => each.token === token)?.logprob;
  const [x, y] = [find(a.token), find(b.token)];
  return x === undefined || y === undefined ? undefined : x - y;
}

/** Whether the i-th log-prob is that of the i-th id: against the server's own lists and against a second scoring. */
async function alignment(server: Server): Promise<Verdict> {
  if (!server.client.capturesTokens) return teacherOnly;
  // Sampled from the few that are listed, so that each token stands in the list beside it.
  const among = { maxTokens: TOKENS, temperature: 1, topK: 5, top: 5, idsInTexts: true };
  const listing = await probeChat(server, { messages: QUESTION, ...among });
  const listed = againstLists(listing);
  if (typeof listed === 'string') return { state: 'error', detail: listed, advice: MISALIGNED };
  const { completion } = await probeChat(server, { messages: QUESTION, maxTokens: TOKENS, temperature: 1 });
  const { promptTokenIds, responseTokenIds: ids, logprobs } = completion;
  if (ids === null || logprobs === null || logprobs.length !== ids.length)
    return { state: 'error', detail: 'cannot be told without token ids and log-probs of equal number' };
  const again = promptTokenIds === null ? undefined : await rescore(server, promptTokenIds, ids);
  const compared = (again ?? []).flatMap((score, i) => (score === null ? [] : [Math.abs(score - logprobs[i])]));
  if (compared.length === 0)
    return listed > 0
      ? {
          state: 'ok',
          detail: `${listed} of ${listing.positions.length} log-probs agree with the lists of probable tokens beside them`,
        }
      : {
          state: 'warning',
          detail: 'could not be told: the server lists no ids beside its log-probs and cannot score',
        };
  const near = compared.filter((difference) => difference <= TOLERANCE).length;
  const measured = `${near} of ${compared.length} log-probs are found again when the response is scored as a prompt`;
  return near >= 0.8 * compared.length
    ? { state: 'ok', detail: measured }
    : { state: 'error', detail: `ids and log-probs do not belong together: only ${measured}`, advice: MISALIGNED };
}

const MISALIGNED = 'do not train on this server: importance weights would be wrong';

/** @returns how many log-probs stand in the list beside them, or what contradicts. */
function againstLists({ completion, positions }: ProbeAnswer): number | string {
  const { responseTokenIds: ids } = completion;
  let agreeing = 0;
  for (const [i, { token, logprob, top }] of positions.entries()) {
    const written = /^token_id:(\d+)$/.exec(token)?.[1];
    if (written !== undefined && ids !== null && Number(written) !== ids[i])
      return `response token ${i} is ${ids[i]} among the ids and ${written} in the log-probs`;
    // A text may stand for several tokens; an id does not.
    const same = written === undefined ? undefined : top.find((each) => each.token === token);
    if (same === undefined || logprob === null) continue;
    if (Math.abs(same.logprob - logprob) > 0.01)
      return `response token ${i} has the log-prob ${logprob.toFixed(3)}, but ${same.logprob.toFixed(3)} in the list beside it`;
    agreeing++;
  }
  return agreeing;
}

async function policyVersion(server: Server): Promise<Verdict> {
  const untold: Verdict = {
    state: 'warning',
    detail: 'not told: a call is stamped with the version that was being served when it was sent',
  };
  if (!server.client.capturesTokens) return { ...untold, state: 'missing' };
  const { completion } = await probeChat(server, { messages: QUESTION, maxTokens: 1, temperature: 1 });
  if (completion.policyVersion !== undefined)
    return { state: 'ok', detail: `${completion.policyVersion}, told with each reply and checked` };
  if (server.client.kind === 'vllm') {
    const told = await ask(server, '/weight_info').then(record, () => undefined);
    if (told?.weight_version !== undefined)
      return { ...untold, detail: `${told.weight_version} at /weight_info, but not told with replies` };
  }
  if (server.client.kind === 'sglang')
    return { ...untold, advice: 'give a whole number as weight_version when weights are updated' };
  return untold;
}

async function chatTemplate(server: Server, renderPrompt: ExaminationOptions['renderPrompt']): Promise<Verdict> {
  if (renderPrompt === undefined)
    return { state: 'missing', detail: 'not compared', advice: 'name the trained checkpoint with --checkpoint' };
  for (const [what, messages, tools] of [
    ['a question', QUESTION, null],
    ['a conversation with tools', CONVERSATION, TOOLS],
  ] as const) {
    const { completion } = await probeChat(server, {
      messages: [...messages],
      tools: tools ? [...tools] : undefined,
      maxTokens: 1,
      temperature: 1,
    });
    const told = completion.promptTokenIds;
    if (told === null) return { state: 'missing', detail: 'cannot be compared: the server tells no prompt ids' };
    const rendered = renderPrompt({ messages: [...messages], tools: tools ? [...tools] : null });
    const at = rendered.findIndex((id, i) => id !== told[i]);
    if (at >= 0 || rendered.length !== told.length)
      return {
        state: 'error',
        detail: `${what} is ${told.length} tokens on the server and ${rendered.length} by the checkpoint's template; they differ from token ${at >= 0 ? at : rendered.length} on`,
        advice:
          'serve the checkpoint with its own tokenizer.json and chat template; no call could be trained on otherwise',
      };
  }
  return { state: 'ok', detail: "prompts are the same ids as by the checkpoint's own template" };
}
