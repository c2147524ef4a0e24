/**
 * vLLM's OpenAI-compatible server as documented: 0.8 (no `return_token_ids`; `return_tokens_as_token_ids` writes ids
 * into the log-probs' texts), 0.11 (`return_token_ids`, `reasoning_content`), 0.13 (`reasoning`).
 */
import { decode, distribution, encode, render } from './letter-model.ts';
import {
  deltasOf,
  type Played,
  play,
  type Routes,
  startWire,
  type WireOptions,
  type WireServer,
} from './wire-server.ts';

export function startVllm(options: Partial<WireOptions> = {}): Promise<WireServer> {
  return startWire(routes, { version: '0.11.0', ...options });
}

const minor = (options: WireOptions) => Number(options.version.split('.')[1]);
const reasoningName = (options: WireOptions) => (minor(options) >= 12 ? 'reasoning' : 'reasoning_content');
const floored = (logprob: number) => Math.max(logprob, -9999);

function entries(played: Played, body: Record<string, unknown>, options: WireOptions, from = 0, to?: number) {
  if (body.logprobs !== true || options.lies?.noLogprobs) return null;
  // top_logprobs: null is "none": the whole field is left empty.
  if (body.top_logprobs === null || body.top_logprobs === undefined) return null;
  const text = (id: number) => (body.return_tokens_as_token_ids === true ? `token_id:${id}` : decode([id]));
  return {
    content: played.tokens.slice(from, to).map(({ logprob, top }, i) => ({
      token: text(options.lies?.noIds ? played.tokens[from + i].id : played.ids[from + i]),
      logprob: floored(logprob),
      bytes: [...Buffer.from(decode([played.ids[from + i]]))],
      top_logprobs: top
        .slice(0, body.top_logprobs as number)
        .map((other) => ({ token: text(other.id), logprob: floored(other.logprob), bytes: [] })),
    })),
  };
}

const routes: Routes = {
  'GET /version': (_, { version }) => ({ json: { version } }),
  'GET /v1/models': (_, options) => ({
    json: {
      object: 'list',
      data: [{ id: options.model ?? 'planner', object: 'model', owned_by: 'vllm', max_model_len: 4096 }],
    },
  }),
  'GET /weight_info': (_, options) =>
    options.weightVersion === undefined
      ? { status: 404, json: { detail: 'Not Found' } }
      : { json: { weight_version: String(options.weightVersion) } },
  'POST /tokenize': (body) => ({ json: { tokens: encode(render(body)), count: 1, max_model_len: 4096 } }),
  'POST /v1/completions'(body, options) {
    const prompt = body.prompt as number[];
    // Prompt log-probs: one entry a position, the first one null, keyed by id. Always the model's own distribution.
    const told = prompt.map((id, i) => {
      if (i === 0) return null;
      const logprob = distribution(prompt.slice(0, i)).get(id) ?? -9999;
      return { [String(id)]: { logprob: floored(logprob), rank: 1, decoded_token: decode([id]) } };
    });
    if (body.prompt_logprobs === undefined || options.version.startsWith('0.8'))
      return { json: { choices: [{ index: 0, text: '', finish_reason: 'length', logprobs: null }] } };
    return { json: { choices: [{ index: 0, text: 'x', finish_reason: 'length', prompt_logprobs: told }] } };
  },
  'POST /v1/chat/completions'(body, options) {
    const played = play(body, options, (body.top_logprobs as number | null) ?? 0);
    const tellsIds = body.return_token_ids === true && minor(options) >= 10 && !options.lies?.noIds;
    const head = { id: 'chatcmpl-1', created: 1, model: body.model };
    if (body.stream !== true) {
      const { reasoning, content, toolCalls } = played.script;
      const choice = {
        index: 0,
        message: {
          role: 'assistant',
          content: content ?? null,
          refusal: null,
          [reasoningName(options)]: reasoning ?? null,
          tool_calls: (toolCalls ?? []).map(({ id, ...fn }) => ({ id, type: 'function', function: fn })),
        },
        logprobs: entries(played, body, options),
        finish_reason: played.finish,
        stop_reason: null,
        ...(tellsIds ? { token_ids: played.ids } : {}),
      };
      return {
        json: {
          ...head,
          object: 'chat.completion',
          choices: [choice],
          usage: { ...played.usage, prompt_tokens_details: null },
          ...(tellsIds ? { prompt_token_ids: played.promptIds } : {}),
          prompt_logprobs: null,
        },
      };
    }
    const frame = { ...head, object: 'chat.completion.chunk' };
    const events: unknown[] = [
      {
        ...frame,
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
        ...(tellsIds ? { prompt_token_ids: played.promptIds } : {}),
      },
    ];
    let at = 0;
    const piece = (delta: Record<string, unknown>, tokens: number, finish: string | null) => {
      const [from, to] = [at, at + tokens];
      at = to;
      return {
        ...frame,
        choices: [
          {
            index: 0,
            delta,
            logprobs: tokens > 0 ? entries(played, body, options, from, to) : null,
            finish_reason: finish,
            ...(tellsIds ? { token_ids: played.ids.slice(from, to) } : {}),
          },
        ],
      };
    };
    for (const { delta, tokens } of deltasOf(played.script, reasoningName(options)))
      events.push(piece(delta, Math.min(tokens, played.tokens.length - at), null));
    events.push(piece({ content: '' }, played.tokens.length - at, played.finish));
    const wanted = (body.stream_options as { include_usage?: boolean } | undefined)?.include_usage;
    if (wanted && !options.lies?.noUsageChunk) events.push({ ...frame, choices: [], usage: played.usage });
    return { events };
  },
};
