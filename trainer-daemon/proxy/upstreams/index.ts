/** The servers that may stand behind the recording proxy. */
export { UPSTREAM_KINDS, type UpstreamClient, type UpstreamKind } from './client.ts';
export { baseUrl, createUpstream, serverRoot, type UpstreamOptions } from './create.ts';
export { type DetectedUpstream, detectUpstream } from './detect.ts';
