/**
 * SGLang's server as documented: 0.4 (log-probs only), 0.5 (`metadata.weight_version`, `return_meta_info` with the native
 * log-probs), 0.6 (`return_token_ids` as well).
 */
import { decode, distribution } from './letter-model.ts';
import { deltasOf, play, type Routes, startWire, type WireOptions, type WireServer } from './wire-server.ts';

export function startSglang(options: Partial<WireOptions> = {}): Promise<WireServer> {
  return startWire(routes, { version: '0.5.4', weightVersion: 'default', ...options });
}

const minor = (options: WireOptions) => Number(options.version.split('.')[1]);
const floored = (logprob: number) => Math.max(logprob, -9999);

const routes: Routes = {
  'GET /get_server_info': (_, { version }) => ({
    json: { version, tp_size: 1, model_path: '/m', internal_states: [] },
  }),
  'GET /get_model_info': (_, options) => ({
    json: { model_path: '/m', weight_version: String(options.weightVersion) },
  }),
  'GET /v1/models': (_, options) => ({
    json: { object: 'list', data: [{ id: options.model ?? 'planner', object: 'model', owned_by: 'sglang' }] },
  }),
  'POST /generate'(body) {
    const ids = body.input_ids as number[];
    const start = (body.logprob_start_len as number | undefined) ?? 0;
    const told = ids.slice(start).map((id, i) => {
      const at = start + i;
      return [at === 0 ? null : floored(distribution(ids.slice(0, at)).get(id) ?? -9999), id, null];
    });
    return { json: { text: 'x', meta_info: { input_token_logprobs: told, output_token_logprobs: [[-1, 65, null]] } } };
  },
  'POST /v1/chat/completions'(body, options) {
    const { lies = {}, weightVersion } = options;
    const played = play(body, options, (body.top_logprobs as number | null) ?? 0);
    const head = { id: 'r1', created: 1, model: body.model };
    const content = (from = 0, to?: number) =>
      body.logprobs === true && !lies.noLogprobs
        ? {
            content: played.tokens.slice(from, to).map(({ id, logprob, top }) => ({
              token: decode([id]),
              bytes: [...Buffer.from(decode([id]))],
              logprob: floored(logprob),
              top_logprobs: top
                .slice(0, (body.top_logprobs as number) ?? 0)
                .map((other) => ({ token: decode([other.id]), bytes: [], logprob: floored(other.logprob) })),
            })),
          }
        : null;
    if (body.stream === true) {
      // Streams tell neither ids nor the version.
      const frame = { ...head, object: 'chat.completion.chunk', usage: null };
      let at = 0;
      const events: unknown[] = deltasOf(played.script, 'reasoning_content').map(({ delta, tokens }) => {
        at += tokens;
        return {
          ...frame,
          choices: [{ index: 0, delta, logprobs: content(at - tokens, at), finish_reason: null, matched_stop: null }],
        };
      });
      events.push({ ...frame, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: played.finish }] });
      return { events };
    }
    const { reasoning, content: text, toolCalls } = played.script;
    const native = played.tokens.map(({ logprob }, i) => [
      floored(logprob),
      played.ids[i],
      // The text is null unless asked for.
      null,
    ]);
    const tells = minor(options) >= 5 && !lies.noIds;
    const choice = {
      index: 0,
      message: {
        role: 'assistant',
        content: text ?? null,
        reasoning_content: reasoning ?? null,
        tool_calls: toolCalls?.map(({ id, ...fn }, index) => ({ id, index, type: 'function', function: fn })) ?? null,
      },
      logprobs: content(),
      finish_reason: played.finish,
      matched_stop: 3,
      ...(tells && body.return_meta_info
        ? {
            meta_info: {
              id: 'r1',
              finish_reason: { type: 'stop', matched: 3 },
              prompt_tokens: played.promptIds.length,
              weight_version: weightVersion,
              ...(lies.noLogprobs ? {} : { output_token_logprobs: native }),
              cached_tokens: 0,
            },
          }
        : {}),
      ...(tells && minor(options) >= 6 && body.return_token_ids ? { token_ids: played.ids } : {}),
    };
    return {
      json: {
        ...head,
        object: 'chat.completion',
        choices: [choice],
        usage: { ...played.usage, reasoning_tokens: 0 },
        ...(minor(options) >= 5 ? { metadata: { weight_version: weightVersion } } : {}),
        ...(tells && minor(options) >= 6 && body.return_token_ids ? { prompt_token_ids: played.promptIds } : {}),
      },
    };
  },
};
