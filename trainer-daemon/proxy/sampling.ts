/** Sampling at the boundary: what the harness asked is recorded, what the episode's role demands is sent. */
import type { SamplingRecord } from '../../protocol/records.ts';
import type { EpisodeOpening, Upstream } from './contract.ts';
import { record } from './upstreams/shapes.ts';

/** Request fields that change how tokens are drawn or how many; all are taken from the harness's hands. */
export const SAMPLING_FIELDS = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'typical_p',
  'presence_penalty',
  'frequency_penalty',
  'repetition_penalty',
  'length_penalty',
  'logit_bias',
  'seed',
  'max_tokens',
  'max_completion_tokens',
  'min_tokens',
  'use_beam_search',
  'best_of',
  'bad_words',
  'allowed_token_ids',
  'logits_processors',
  'ignore_eos',
  // SGLang's.
  'custom_logit_processor',
  'custom_params',
  // llama.cpp's.
  'n_predict',
  'samplers',
  'min_keep',
  'repeat_penalty',
  'repeat_last_n',
  'mirostat',
  'mirostat_tau',
  'mirostat_eta',
  'dynatemp_range',
  'dynatemp_exponent',
  'xtc_probability',
  'xtc_threshold',
  'top_n_sigma',
  'dry_multiplier',
  'dry_base',
  'dry_allowed_length',
  'dry_penalty_last_n',
  'dry_sequence_breakers',
] as const;

const IS_SAMPLING: ReadonlySet<string> = new Set(SAMPLING_FIELDS);

/** Fields by which the proxy asks for token ids and log-probs; the harness's own wishes among them are honoured in the reply. */
export interface CaptureWishes {
  logprobs: boolean;
  tokenIds: boolean;
  /** The usage chunk at the end of a stream. */
  usage: boolean;
}

export interface BoundaryRequest {
  /** Body for the upstream. */
  body: Record<string, unknown>;
  /** Whether the upstream is asked for a stream. */
  streamed: boolean;
  asked: SamplingRecord;
  sent: SamplingRecord;
  wishes: CaptureWishes;
}

/**
 * Turns the harness's request into the one that is sent on.
 * @param request the parsed body; left as it is.
 * @param seed of this call's random stream (unsigned 32 bits).
 */
export function enforceSampling(
  request: Record<string, unknown>,
  opening: Pick<EpisodeOpening, 'upstream' | 'sampling' | 'responseTokens'>,
  seed: number,
): BoundaryRequest {
  const { upstream, sampling } = opening;
  // Left out rather than deleted: an object whose fields were deleted is slow to write.
  const others = Object.entries(request).filter(([field]) => !IS_SAMPLING.has(field));
  const body: Record<string, unknown> = { ...Object.fromEntries(others), model: upstream.model };
  const asked: Record<string, unknown> = {};
  for (const field of SAMPLING_FIELDS) {
    if (field in request) {
      // The record's own fields hold numbers; a harness's odd value is still in request.other.
      if (!(field in KNOWN_NUMBERS) || typeof request[field] === 'number' || request[field] === null)
        asked[field] = request[field];
    }
  }
  const sent: Record<string, unknown> = {
    ...upstream.client.neutral,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: 0,
    max_tokens: opening.responseTokens,
  };
  if (upstream.client.supports.topK) sent.top_k = sampling.topK;
  if (upstream.client.supports.seed) sent.seed = seed;
  Object.assign(body, sent);
  if (!upstream.capturesTokens && 'max_completion_tokens' in request) {
    // Some foreign servers know only the newer name; the harness that was written for one uses it.
    delete body.max_tokens;
    body.max_completion_tokens = opening.responseTokens;
  }

  const streamOptions = record(request.stream_options);
  const wishes: CaptureWishes = {
    logprobs: request.logprobs === true,
    tokenIds: request.return_token_ids === true,
    usage: streamOptions.include_usage === true,
  };
  const top = Number.isInteger(request.top_logprobs) ? (request.top_logprobs as number) : 0;
  Object.assign(body, upstream.client.capture(wishes.logprobs ? { topLogprobs: top } : undefined));
  const streamed = request.stream === true && !upstream.client.asksWhole(request);
  if (streamed) body.stream_options = { ...streamOptions, include_usage: true };
  else if (request.stream === true) {
    delete body.stream;
    delete body.stream_options;
  }
  return { body, streamed, asked: asked as SamplingRecord, sent: sent as SamplingRecord, wishes };
}

const KNOWN_NUMBERS = {
  temperature: 1,
  top_p: 1,
  top_k: 1,
  presence_penalty: 1,
  frequency_penalty: 1,
  seed: 1,
  max_tokens: 1,
};

/** Why this server cannot sample as demanded, or undefined when it can. */
export function samplingProblem(upstream: Upstream, sampling: EpisodeOpening['sampling']): string | undefined {
  if (sampling.topK > 0 && !upstream.client.supports.topK)
    return `sampling with topK ${sampling.topK} was asked for, but ${upstream.name} does not know top_k: set topK to -1 or choose another upstream`;
  return undefined;
}
