/** Finds out what serving program answers at a URL. */
import type { UpstreamKind } from './client.ts';
import { baseUrl, serverRoot } from './create.ts';
import { askJson } from './request.ts';
import { list, record, versionOf } from './shapes.ts';

const MOST_MILLISECONDS = 10_000;

export interface DetectedUpstream {
  kind: UpstreamKind;
  /** The server's own version, where it tells one. */
  version: string | null;
  /** Names of the models it lists. */
  models: string[];
  /** What the kind was told from. */
  evidence: string;
  /** Version of the planner that it serves, where it tells one: the embedded planner does. */
  policyVersion: number | null;
  /** How many tokens its planner has, where it tells: llama.cpp's server does. */
  vocabulary: number | null;
}

/**
 * Asks a server what it is: by the owner of its models, then by an endpoint that only one program has.
 * @param url as for createUpstream.
 * @throws Error when nothing answers there, or the list of models is refused (for example for want of a key).
 */
export async function detectUpstream(url: string, apiKey: string | null): Promise<DetectedUpstream> {
  const base = baseUrl(url);
  const root = serverRoot(base);
  const ask = (address: string) => askJson(address, undefined, apiKey, AbortSignal.timeout(MOST_MILLISECONDS));
  let listed: unknown;
  try {
    listed = await ask(`${base}/models`);
  } catch (error) {
    throw new Error(`no list of models at ${base}/models: ${describe(error)}`);
  }
  const entries = list(record(listed).data).map(record);
  const models = entries.map((entry) => String(entry.id ?? ''));
  const owner = String(entries[0]?.owned_by ?? '');
  const { n_vocab: tokens } = record(entries[0]?.meta);
  const found = (evidence: string) => ({
    version: null,
    models,
    evidence,
    policyVersion: versionOf(entries[0]?.policy_version) ?? null,
    vocabulary: Number.isSafeInteger(tokens) && (tokens as number) > 0 ? (tokens as number) : null,
  });
  // The recording proxy names the same owner, but answers with whatever stands behind it.
  if (owner === 'agentic-robo-rl' && entries[0]?.policy_version !== undefined)
    return { ...found('its models name their policy version'), kind: 'embedded' };
  for (const { kind, path, version } of SIGNS) {
    // A foreign API is not knocked at everywhere: an owner that is known decides which doors are tried.
    const named = owner.toLowerCase().replace(/[^a-z]/g, '') === kind;
    if (!named && OWNERS.has(owner.toLowerCase())) continue;
    const answer = await ask(root + path).then(record, () => undefined);
    const told = answer && version(answer);
    if (named) return { ...found(`its models are owned by "${owner}"`), kind, version: told ?? null };
    if (told !== undefined) return { ...found(`${path} answers as ${kind} does`), kind, version: told };
  }
  return { ...found('nothing shows a server that tells token ids'), kind: 'openai' };
}

const OWNERS = new Set(['vllm', 'sglang', 'llamacpp', 'openai', 'system', 'library', 'agentic-robo-rl']);

/** An endpoint of each program, and the version its answer tells; undefined when the answer is somebody else's. */
const SIGNS: { kind: UpstreamKind; path: string; version(answer: Record<string, unknown>): string | undefined }[] = [
  {
    kind: 'sglang',
    path: '/get_server_info',
    version: (answer) =>
      typeof answer.version === 'string' &&
      ('tp_size' in answer || 'internal_states' in answer || 'model_path' in answer)
        ? answer.version
        : undefined,
  },
  {
    kind: 'llamacpp',
    path: '/props',
    version: (answer) =>
      'default_generation_settings' in answer ? String(answer.build_info ?? 'unknown build') : undefined,
  },
  {
    kind: 'vllm',
    path: '/version',
    version: (answer) =>
      typeof answer.version === 'string' && Object.keys(answer).length === 1 ? answer.version : undefined,
  },
];

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return error.message === '' ? (code ?? error.name) : error.message;
}
