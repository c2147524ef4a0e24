/**
 * llama.cpp's server as documented: b4000 (log-probs without ids) and b6500 (ids in the log-prob entries, probabilities
 * after sampling on demand).
 */
import { decode, distribution, encode, render } from './letter-model.ts';
import { deltasOf, play, type Routes, startWire, type WireOptions, type WireServer } from './wire-server.ts';

export function startLlamacpp(options: Partial<WireOptions> = {}): Promise<WireServer> {
  return startWire(routes, { version: 'b6500', ...options });
}

const LOWEST = -3.4028234663852886e38;
const floored = (logprob: number) => Math.max(logprob, LOWEST);

const routes: Routes = {
  'GET /props': (_, { version }) => ({
    json: { default_generation_settings: { n_ctx: 4096 }, build_info: version, chat_template: '' },
  }),
  'GET /v1/models': (_, options) => ({
    json: {
      object: 'list',
      data: [{ id: options.model ?? 'planner', object: 'model', owned_by: 'llamacpp', meta: { n_vocab: 300 } }],
    },
  }),
  'POST /apply-template': (body, options) => ({
    json: { prompt: (options.lies?.otherTemplate ? 'You are helpful. ' : '') + render(body) },
  }),
  'POST /tokenize': (body) => ({ json: { tokens: encode(String(body.content)) } }),
  'POST /completion'(body) {
    const prompt = body.prompt as number[];
    const most = (body.n_probs as number | undefined) ?? 0;
    const told = [...distribution(prompt)].slice(0, most);
    return {
      json: {
        content: decode([told[0]?.[0] ?? 65]),
        completion_probabilities:
          most > 0
            ? [
                {
                  id: told[0][0],
                  logprob: told[0][1],
                  top_logprobs: told.map(([id, logprob]) => ({ id, token: decode([id]), logprob })),
                },
              ]
            : [],
      },
    };
  },
  'POST /v1/chat/completions'(body, options) {
    const tools = ((body.tools as unknown[] | undefined) ?? []).length > 0;
    if (body.logprobs === true && tools && body.stream === true)
      return { status: 500, json: { error: { code: 500, message: 'logprobs is not supported with tools + stream' } } };
    const { lies = {} } = options;
    const probs = body.logprobs === true ? ((body.top_logprobs as number | undefined) ?? 20) : 0;
    const after = body.post_sampling_probs === true && !lies.raw;
    const played = play(body, after ? options : { ...options, lies: { ...lies, raw: true } }, probs);
    const value = (logprob: number) => (after ? { prob: Math.exp(logprob) } : { logprob: floored(logprob) });
    const entries = (from = 0, to?: number) => ({
      content: played.tokens.slice(from, to).map(({ logprob, top }, i) => ({
        ...(options.version === 'b4000' || lies.noIds ? {} : { id: played.ids[from + i] }),
        token: decode([played.ids[from + i]]),
        bytes: [],
        ...value(logprob),
        [after ? 'top_probs' : 'top_logprobs']: top
          .slice(0, probs)
          .map((other) => ({ id: other.id, token: decode([other.id]), bytes: [], ...value(other.logprob) })),
      })),
    });
    const head = { id: 'chatcmpl-1', created: 1, model: body.model, system_fingerprint: options.version };
    const { reasoning, content, toolCalls } = played.script;
    const usage = { ...played.usage, prompt_tokens_details: { cached_tokens: 0 } };
    if (body.stream === true) {
      const frame = { ...head, object: 'chat.completion.chunk' };
      let at = 0;
      const events: unknown[] = [
        { ...frame, choices: [{ index: 0, delta: { role: 'assistant', content: null }, finish_reason: null }] },
      ];
      const piece = (delta: Record<string, unknown>, tokens: number, finish: string | null) => {
        const from = at;
        at += tokens;
        return {
          ...frame,
          choices: [
            {
              index: 0,
              delta,
              finish_reason: finish,
              ...(probs > 0 && tokens > 0 && !lies.noLogprobs ? { logprobs: entries(from, at) } : {}),
            },
          ],
        };
      };
      for (const { delta, tokens } of deltasOf(played.script, 'reasoning_content'))
        events.push(piece(delta, Math.min(tokens, played.tokens.length - at), null));
      // The end token comes as an empty piece of its own.
      if (at < played.tokens.length) events.push(piece({ content: '' }, played.tokens.length - at, null));
      events.push(piece({}, 0, played.finish));
      const wanted = (body.stream_options as { include_usage?: boolean } | undefined)?.include_usage;
      if (wanted && !lies.noUsageChunk) events.push({ ...frame, choices: [], usage, timings: { prompt_n: 1 } });
      return { events };
    }
    return {
      json: {
        ...head,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            finish_reason: played.finish,
            message: {
              role: 'assistant',
              content: content ?? null,
              ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
              ...(toolCalls
                ? { tool_calls: toolCalls.map(({ id, ...fn }) => ({ id, type: 'function', function: fn })) }
                : {}),
            },
            ...(probs > 0 && !lies.noLogprobs ? { logprobs: entries() } : {}),
          },
        ],
        usage,
        timings: { prompt_n: 1 },
      },
    };
  },
};
