/** The tokens of a response with all that is known of each. */
import { isDamaged } from '../documents.ts';
import type { ReplayCall } from './episode.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Why a token's gradient was cut: the bounds of the clipped objective. */
export const CLIP_WORDS = ['', 'low', 'high', 'dual'] as const;

export interface ReplayToken {
  id: number;
  /** Null where no tokenizer is at hand. */
  text: string | null;
  /** Of the server that sampled it. */
  logb: number | null;
  /** Under the policy of the round's start, recomputed by the trainer; null for a response that was not trained on. */
  logq: number | null;
  /** At its optimizer step of the last pass. */
  logp: number | null;
  /** Importance weight of the last pass. */
  w: number | null;
  /** '' where not clipped; null where not trained on. */
  clipped: (typeof CLIP_WORDS)[number] | null;
}

/** Sampled tokens of a call; none where the server told none, or the call is damaged. */
export function tokensOf({ call, scores }: ReplayCall, vocabulary: Vocabulary | undefined): ReplayToken[] {
  if (isDamaged(call) || !call.responseTokenIds) return [];
  const score = scores.at(-1);
  return call.responseTokenIds.map((id, k) => ({
    id,
    text: vocabulary?.text(id) ?? null,
    logb: call.logprobs?.[k] ?? null,
    logq: score?.logq[k] ?? null,
    logp: score?.logp[k] ?? null,
    w: score?.w[k] ?? null,
    clipped: score ? (CLIP_WORDS[score.clipped[k]] ?? null) : null,
  }));
}
