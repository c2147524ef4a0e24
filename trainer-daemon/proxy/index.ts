/** The recording proxy (design section 3.1 and 7). */
export type {
  EpisodeOpening,
  ProxyEpisode,
  RecordedCall,
  RecordingProxy,
  Upstream,
} from './contract.ts';
export { PolicyGate, type PolicyGateOptions } from './policy-gate.ts';
export { type ProxyOptions, startProxy } from './server.ts';
export { createUpstream, detectUpstream, type UpstreamKind, type UpstreamOptions } from './upstreams/index.ts';
