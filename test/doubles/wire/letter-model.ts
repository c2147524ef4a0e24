/**
 * A language model small enough to compute by hand: its tokens are the printable ASCII characters (id = code point) and
 * an end token; its logits are a hash of the last three tokens. Everything that a serving program tells of a sampled
 * token follows from it, so that what a double answers can be held against the truth.
 */
import { Random } from '../../../protocol/random.ts';

export const END = 3;
export const VOCABULARY = [END, 10, ...Array.from({ length: 95 }, (_, i) => 32 + i)];

export interface Settings {
  temperature?: number;
  top_p?: number;
  top_k?: number;
  seed?: number;
}

export interface Sampled {
  id: number;
  logprob: number;
  /** The most probable tokens, best first. */
  top: { id: number; logprob: number }[];
}

/** Log-probs over the vocabulary after a prefix. Without settings the model's own (temperature 1). */
export function distribution(prefix: readonly number[], settings: Settings = {}): Map<number, number> {
  let state = 0x9e3779b9;
  for (const id of prefix.slice(-3)) state = Math.imul(state ^ id, 0x85ebca6b) ^ (state >>> 13);
  const temperature = settings.temperature ?? 1;
  const logits = VOCABULARY.map((id) => {
    let hash = Math.imul(state ^ Math.imul(id, 0xc2b2ae35), 0x27d4eb2f);
    hash ^= hash >>> 15;
    return (((hash >>> 8) / 2 ** 24) * 6) / temperature;
  });
  const most = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  const all = new Map(VOCABULARY.map((id, i) => [id, logits[i] - most - Math.log(sum)]));
  const k = settings.top_k !== undefined && settings.top_k > 0 ? settings.top_k : all.size;
  const kept = new Map([...all].sort((a, b) => b[1] - a[1]).slice(0, k));
  const mass = Math.log([...kept.values()].reduce((total, logprob) => total + Math.exp(logprob), 0));
  return new Map([...kept].map(([id, logprob]) => [id, logprob - mass]));
}

/**
 * @param script text that is "sampled" in any case, followed by the end token; without it tokens are drawn by the seed.
 * @param raw log-probs of the model's own distribution in place of the sampled one's.
 */
export function generate(
  prompt: readonly number[],
  most: number,
  settings: Settings,
  { script, raw = false, top = 0 }: { script?: string; raw?: boolean; top?: number } = {},
): Sampled[] {
  const random = new Random('letter model', settings.seed ?? 0);
  const forced = script === undefined ? undefined : [...script].map((letter) => letter.codePointAt(0) as number);
  const tokens: Sampled[] = [];
  const prefix = [...prompt];
  while (tokens.length < most) {
    const told = distribution(prefix, raw ? {} : settings);
    const id = forced ? (forced[tokens.length] ?? END) : draw(distribution(prefix, settings), random.next());
    tokens.push({
      id,
      logprob: told.get(id) ?? -9999,
      top: [...told].slice(0, top).map(([each, logprob]) => ({ id: each, logprob })),
    });
    prefix.push(id);
    if (id === END) break;
  }
  return tokens;
}

function draw(probabilities: Map<number, number>, at: number): number {
  let left = at;
  for (const [id, logprob] of probabilities) {
    left -= Math.exp(logprob);
    if (left <= 0) return id;
  }
  return END;
}

export const encode = (text: string) => [...text].map((letter) => letter.codePointAt(0) as number);
/** Text of tokens; the end token has none. */
export const decode = (ids: readonly number[]) =>
  ids.map((id) => (id === END ? '' : String.fromCodePoint(id))).join('');

/** The chat template of the doubles. */
export function render(body: Record<string, unknown>): string {
  const messages = body.messages as { role: string; content: unknown }[];
  const tools = body.tools ? `[tools ${JSON.stringify(body.tools)}]` : '';
  return `${tools}${messages.map(({ role, content }) => `<${role}>${JSON.stringify(content ?? null)}`).join('')}<assistant>`;
}
