/** Runs, calls and folders for the tests of writing and reading run directories. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { EpisodeRecord, ResolvedCall, RunInfo } from '../../../../protocol/records.ts';

const folders: string[] = [];

/** A new empty folder, removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export const runInfo: RunInfo = {
  version: 1,
  id: '1f0c2ab9',
  name: 'store-test',
  createdAt: '2026-01-01T00:00:00.000Z',
  config: { name: 'store-test' },
  configFolder: '/somewhere',
  software: { node: process.version },
  adapterSha256: null,
  workspaceCommit: null,
};

export function call(fields: Partial<ResolvedCall> = {}): ResolvedCall {
  const { episode = 'e0', turn = 0 } = fields;
  return {
    id: `${episode}.c${turn}`,
    episode,
    turn,
    surface: 'chat',
    policyVersion: 1,
    request: { messages: [{ role: 'user', content: `turn ${turn}` }], tools: null, other: { model: 'planner' } },
    samplingAsked: {},
    samplingSent: { temperature: 1 },
    promptTokenIds: [1, 2, 3, turn],
    responseTokenIds: [4, 5],
    logprobs: [-0.25, -1.5],
    response: { content: 'yes', reasoning: null, toolCalls: [] },
    finishReason: 'stop',
    usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
    startedAt: '2026-01-01T00:00:00.000Z',
    durations: { firstToken: 1, total: 2 },
    status: 'complete',
    error: null,
    retryOf: null,
    ...fields,
  };
}

export function episode(id: string): EpisodeRecord {
  return {
    version: 1,
    id,
    role: 'rollout',
    round: 1,
    task: 's/0',
    init: 11,
    attempt: 0,
    reward: 1,
    valid: true,
    invalidReason: null,
    successTurn: null,
    policyVersion: 1,
    turns: 1,
    seconds: 1,
    end: 'exit',
    tryNumber: 0,
    outputDir: null,
    trajectory: null,
    startedAt: '2026-01-01T00:00:00.000Z',
  };
}

/** Parsed lines of a file of JSON lines. */
export function linesOf(...path: string[]): Record<string, unknown>[] {
  const text = readFileSync(join(...path), 'utf8');
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no newline');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
