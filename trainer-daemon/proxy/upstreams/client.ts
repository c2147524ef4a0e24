/** What differs between the serving programs behind the proxy: what is asked for, and where the answer lies. */

export const UPSTREAM_KINDS = ['embedded', 'vllm', 'sglang', 'llamacpp', 'openai'] as const;
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];

/** One sampled token as an answer tells it. */
export interface TokenFact {
  /** Undefined when this form tells no ids. */
  id?: unknown;
  /** null when a value is missing or is no number. */
  logprob: number | null;
}

/** What the root of a reply or chunk tells. Values are as they came: they are checked where they are put together. */
export interface RootFacts {
  promptTokenIds?: unknown;
  policyVersion?: number;
}

/** What `choices[0]` of a reply or chunk tells. */
export interface ChoiceFacts extends RootFacts {
  /** Ids told apart from the log-probs. */
  tokenIds?: unknown;
  /** Log-probs, with the ids where they come together. */
  tokens?: TokenFact[];
  /** True when `tokens` holds the whole response so far and not only what is new. */
  cumulative?: boolean;
}

/** Asks one of the server's other endpoints. @param path from the server's root. @throws Error when it refuses. */
export type AskServer = (path: string, body: unknown) => Promise<unknown>;

export interface UpstreamClient {
  readonly kind: UpstreamKind;
  /** For messages. */
  readonly title: string;
  /** Whether token ids and log-probs of the sampled distribution come back (teachers may lack them). */
  readonly capturesTokens: boolean;
  /** Sampling fields the server understands beyond the OpenAI ones. */
  readonly supports: { topK: boolean; seed: boolean };
  /** False for a server without the endpoint of plain completions. */
  readonly plainCompletions?: boolean;
  /** Fields sent with every request, for servers whose own defaults would change the sampled distribution. */
  readonly neutral?: Record<string, unknown>;
  /** A log-prob at or below this one is the server's way to say "none". */
  readonly floor: number;
  /**
   * Fields that ask for ids and log-probs.
   * @param own what the harness wants to see of them itself; undefined when nothing.
   */
  capture(own: { topLogprobs: number } | undefined): Record<string, unknown>;
  /** True when a streamed reply would lack what is recorded, so that the whole reply is asked for and streamed on. */
  asksWhole(request: Record<string, unknown>): boolean;
  root(root: Record<string, unknown>): RootFacts;
  choice(choice: Record<string, unknown>): ChoiceFacts;
  /** The prompt's ids as the server itself encodes it, for servers whose replies do not tell them. */
  promptTokens?(request: Record<string, unknown>, ask: AskServer): Promise<number[]>;
}
