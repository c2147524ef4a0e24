/** The log-probs that a server gives to tokens it is told, by its other endpoints: of the model itself, at temperature 1. */
import { list, numberOrNull, record } from '../upstreams/shapes.ts';
import { ask, type Server } from './probe-chat.ts';

/** Candidates asked for where a server scores only what it might sample itself. */
const CANDIDATES = 500;

/**
 * @returns one log-prob a response token, null where the server told none; undefined when it has no way to score.
 * @throws Error when the server refuses.
 */
export async function rescore(
  server: Server,
  prompt: number[],
  response: number[],
): Promise<(number | null)[] | undefined> {
  const ids = [...prompt, ...response];
  switch (server.client.kind) {
    case 'vllm': {
      const body = { model: server.model, prompt: ids, max_tokens: 1, temperature: 0, prompt_logprobs: 0 };
      const choice = record(list(record(await ask(server, '/v1/completions', body)).choices)[0]);
      // One entry a position: an object keyed by token id; the first position has none.
      const told = list(choice.prompt_logprobs).slice(prompt.length);
      if (told.length === 0) return undefined;
      return response.map((id, i) => numberOrNull(record(record(told[i])[String(id)]).logprob));
    }
    case 'sglang': {
      const body = {
        input_ids: ids,
        sampling_params: { max_new_tokens: 1, temperature: 0 },
        return_logprob: true,
        logprob_start_len: 0,
      };
      const meta = record(record(await ask(server, '/generate', body)).meta_info);
      // [log-prob, id, text or null], the last ones being the response's.
      const told = list(meta.input_token_logprobs).slice(-response.length).map(list);
      if (told.length < response.length) return undefined;
      return response.map((id, i) => (told[i][1] === id ? numberOrNull(told[i][0]) : null));
    }
    case 'llamacpp': {
      const scores: (number | null)[] = [];
      for (const [i, id] of response.entries()) {
        const body = { prompt: ids.slice(0, prompt.length + i), n_predict: 1, n_probs: CANDIDATES, temperature: 1 };
        const [first] = list(record(await ask(server, '/completion', body)).completion_probabilities);
        const found = list(record(first).top_logprobs)
          .map(record)
          .find((each) => each.id === id);
        scores.push(numberOrNull(found?.logprob));
      }
      return scores;
    }
    default:
      return undefined;
  }
}
