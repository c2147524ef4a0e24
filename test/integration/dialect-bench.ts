/** A proxy in front of a scripted server, and the official clients pointed at it. Set up anew for each test. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { EpisodeOpening, ProxyEpisode, RecordingProxy } from '../../trainer-daemon/proxy/contract.ts';
import { startProxy } from '../../trainer-daemon/proxy/server.ts';
import { createUpstream } from '../../trainer-daemon/proxy/upstreams/create.ts';
import { startVllmServer, type VllmServer } from '../doubles/vllm-server.ts';
import { WatchedSection } from '../doubles/watched-section.ts';

export class DialectBench {
  proxy!: RecordingProxy;
  server!: VllmServer;
  sink!: WatchedSection;
  readonly notices: string[] = [];
  private readonly opened: ProxyEpisode[] = [];
  private count = 0;

  constructor() {
    beforeAll(async () => {
      this.proxy = await startProxy({ onNotice: (text) => this.notices.push(text) });
    });
    afterAll(() => this.proxy?.close());
    beforeEach(async () => {
      this.server = await startVllmServer();
      this.sink = await WatchedSection.create();
      this.notices.length = 0;
    });
    afterEach(async () => {
      for (const episode of this.opened.splice(0)) await episode.close('done');
      await this.server?.close();
      await this.sink?.remove();
    });
  }

  open(change: Partial<EpisodeOpening> = {}): ProxyEpisode {
    const episode = this.proxy.openEpisode({
      id: `0badcafe.r1.suite-0.i${this.count++}.a0.0`,
      role: 'rollout',
      upstream: createUpstream({ kind: 'vllm', url: this.server.url, model: 'planner', policyVersion: () => 3 }),
      sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
      responseTokens: 64,
      turns: 100_000,
      sink: this.sink,
      onUpstreamFailure: 'pass',
      ...change,
    });
    this.opened.push(episode);
    return episode;
  }

  openai(episode: ProxyEpisode, more: object = {}): OpenAI {
    return new OpenAI({ baseURL: `${this.proxy.url}/v1`, apiKey: episode.key, maxRetries: 0, ...more });
  }

  /** Adds /v1 itself and sends the key as x-api-key. */
  anthropic(episode: ProxyEpisode, more: object = {}): Anthropic {
    return new Anthropic({ baseURL: this.proxy.url, apiKey: episode.key, maxRetries: 0, ...more });
  }
}
