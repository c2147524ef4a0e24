/** The recording proxy as the other rooms see it. */
import type { SamplingConfig } from '../../protocol/config.ts';
import type { ResolvedCall, Role } from '../../protocol/records.ts';
import type { CallSink } from '../store/contract.ts';
import type { PolicyGate } from './policy-gate.ts';
import type { UpstreamClient } from './upstreams/client.ts';

/** A server that answers chat completions behind the proxy. */
export interface Upstream {
  readonly name: string;
  /** Base URL, ends in /v1. */
  readonly url: string;
  /** Model name to send. */
  readonly model: string;
  readonly apiKey: string | null;
  /** Whether token ids and log-probs of the sampled distribution come back (teachers may lack them). */
  readonly capturesTokens: boolean;
  /** What is asked of this kind of server and how its answers are read. */
  readonly client: UpstreamClient;
  /** How many tokens its planner's vocabulary has, where that is known: ids beyond are not trained on. */
  readonly vocabulary?: number | null;
  /** Holds calls while the server's weights change. */
  readonly gate?: PolicyGate;
  /** Version that a request dispatched now is answered with; null for servers that do not serve this run's planner. */
  policyVersion(): number | null;
}

export interface EpisodeOpening {
  id: string;
  role: Role;
  upstream: Upstream;
  sampling: SamplingConfig;
  /** Sent as max_tokens; the harness's own smaller value is recorded, not used. */
  responseTokens: number;
  /** Further calls are refused (and not recorded) once this many were answered. */
  turns: number;
  sink: CallSink;
  onUpstreamFailure: 'pass' | 'fail-fast';
  /** A call is given up when nothing has come from the upstream for so long; by default half an hour. */
  silenceSeconds?: number;
  /** How often a stream that has not begun yet shows that it lives (a comment in it); by default every 15 s. */
  heartbeatSeconds?: number;
}

export interface ProxyEpisode {
  readonly id: string;
  readonly key: string;
  /** `http://127.0.0.1:PORT/e/KEY/v1`; the key also works as a bearer token at `/v1`. */
  readonly baseUrl: string;
  /** Calls recorded so far, in turn order (resends included), prompt ids and bodies left out. */
  readonly calls: readonly RecordedCall[];
  /** performance.now() of the last request or reply byte. */
  readonly lastActivity: number;
  /** Requests in flight. */
  readonly inFlight: number;
  /** True once a call was refused because of `turns`. */
  readonly turnLimitReached: boolean;
  /** True once the upstream refused a prompt as longer than the planner's context (the call is recorded as `limit`). */
  readonly contextLimitReached: boolean;
  /** Why the episode may not be trained on, as far as its calls tell by now; null when nothing speaks against it. */
  readonly untrainable: string | null;
  /** A call was lost: it could not be recorded. The episode is then untrainable. */
  readonly lostCalls: number;
  /** Called after each recorded call and when the turn limit refuses one. */
  onChange?: () => void;
  /** Ends the episode: in-flight calls are aborted (recorded as `limit` or `aborted`), the key answers 409 from now on. */
  close(reason: 'done' | 'limit' | 'cancelled'): Promise<void>;
}

export type RecordedCall = Pick<
  ResolvedCall,
  'id' | 'turn' | 'status' | 'finishReason' | 'response' | 'policyVersion' | 'retryOf' | 'untrainable' | 'concurrent'
>;

export interface RecordingProxy {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** @throws Error when the id is open already or the upstream cannot sample as asked. */
  openEpisode(opening: EpisodeOpening): ProxyEpisode;
  close(): Promise<void>;
}
