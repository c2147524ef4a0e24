/** Addresses of the texts of replay: an episode's transcript or a part of it, and the code that a planner wrote in it. */

export const TRANSCRIPT_SCHEME = 'planner-episode';

/** Which text of an episode an address names; without one, its transcript with only what is new in each request. */
export type TranscriptView =
  /** Whole requests. */
  | { mode: 'full' }
  /** The transcript from a call on. */
  | { mode: 'from'; call: number }
  /** One recorded text, a page of it at a time; `key` as in the transcript's blocks. */
  | { mode: 'block'; call: number; key: string; page: number }
  /** The response of a call, token by token. */
  | { mode: 'sampled'; call: number }
  /** The prompt of a call as token ids tell it: recorded, or rendered again from the messages. */
  | { mode: 'prompt'; call: number; again: boolean };

/** What an address names: an episode of a run, and in it the code of one action where there is a `cell`. */
export interface TranscriptTarget {
  /** Absolute path of the run. */
  directory: string;
  section: string;
  episode: string;
  cell?: { call: number; action: number };
  view?: TranscriptView;
}

const EXTENSIONS: Record<string, string> = {
  python: 'py',
  py: 'py',
  javascript: 'js',
  js: 'js',
  typescript: 'ts',
  bash: 'sh',
  sh: 'sh',
};

/**
 * `planner-episode:/RUN/SECTION/EPISODE.episode?...`; its last part is what an editor shows as the name.
 * @param language of the code, where known; Python otherwise.
 */
export function transcriptUri(target: TranscriptTarget, language = 'python'): string {
  const { directory, section, episode, cell, view } = target;
  const folder = directory.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  const extension = EXTENSIONS[language.toLowerCase()] ?? 'py';
  const name = cell
    ? `${episode}/turn ${cell.call}, cell ${cell.action}.${extension}`
    : `${episode}${view ? nameOf(view) : ''}.episode`;
  const path = [folder, ...section.split('/'), ...name.split('/')].map(encodeURIComponent).join('/');
  const rest = cell ? [cell.call, cell.action] : view ? [view] : [];
  return `${TRANSCRIPT_SCHEME}:/${path}?${encodeURIComponent(JSON.stringify([directory, section, episode, ...rest]))}`;
}

function nameOf(view: TranscriptView): string {
  switch (view.mode) {
    case 'full':
      return ' (full)';
    case 'from':
      return ` (from ${view.call})`;
    case 'block':
      return ` (call ${view.call}, ${view.key}${view.page > 0 ? `, part ${view.page + 1}` : ''})`;
    case 'sampled':
      return ` (call ${view.call}, sampled)`;
    case 'prompt':
      return ` (call ${view.call}, prompt ${view.again ? 'rendered again' : 'recorded'})`;
  }
}

/** What an address names; undefined when it is no such address. The names in it are not checked. */
export function parseTranscriptUri(uri: string): TranscriptTarget | undefined {
  const query = uri.startsWith(`${TRANSCRIPT_SCHEME}:`) && /\?([^#]*)/.exec(uri)?.[1];
  if (!query) return undefined;
  try {
    const parts: unknown = JSON.parse(decodeURIComponent(query));
    if (!Array.isArray(parts)) return undefined;
    const [directory, section, episode, call, action] = parts;
    if (![directory, section, episode].every((part) => typeof part === 'string')) return undefined;
    const target = { directory, section, episode };
    if (parts.length === 3) return target;
    if (parts.length === 4) {
      const view = viewOf(call);
      return view && { ...target, view };
    }
    return isPlace(call) && isPlace(action) ? { ...target, cell: { call, action } } : undefined;
  } catch {
    return undefined;
  }
}

const isPlace = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

function viewOf(value: unknown): TranscriptView | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { mode, call, key, page, again } = value as Record<string, unknown>;
  if (mode === 'full') return { mode };
  if (!isPlace(call)) return undefined;
  if (mode === 'from' || mode === 'sampled') return { mode, call };
  if (mode === 'prompt') return typeof again === 'boolean' ? { mode, call, again } : undefined;
  if (mode !== 'block' || typeof key !== 'string' || !isPlace(page)) return undefined;
  return { mode, call, key, page };
}
