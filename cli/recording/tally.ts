/** Counts the calls of recorded episodes and tells each one, without a word of its content. */
import type { CallRecord } from '../../protocol/records.ts';
import type { ProxyEpisode } from '../../trainer-daemon/proxy/index.ts';
import { plural } from '../output/format.ts';
import { jsonText } from '../output/safe-text.ts';
import type { Terminal } from '../output/terminal.ts';

interface Counts {
  episodes: number;
  calls: number;
  lost: number;
  byStatus: Partial<Record<CallRecord['status'], number>>;
  /** Episodes with calls that nothing speaks against training on. */
  trainable: number;
  /** Why the others may not be trained on: reasons with the number of episodes. */
  untrainable: Record<string, number>;
}

export class Tally {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  readonly #episodes: ProxyEpisode[] = [];
  readonly #notices = new Set<string>();
  readonly #warnings = new Set<string>();
  readonly #started = performance.now();

  constructor(terminal: Terminal, json: boolean) {
    this.#terminal = terminal;
    this.#json = json;
  }

  watch(episode: ProxyEpisode): void {
    const number = this.#episodes.push(episode);
    const told = new Set<string>();
    episode.onChange = () => {
      // Calls are kept in turn order, which is not the order in which they end.
      for (const call of episode.calls) {
        if (told.has(call.id)) continue;
        told.add(call.id);
        const { id, turn, status, finishReason, untrainable } = call;
        if (this.#json) {
          const line = { kind: 'call', id, episode: episode.id, turn, status, finishReason, untrainable };
          this.#terminal.out(jsonText(line));
        } else {
          const calls = this.#episodes.reduce((sum, each) => sum + each.calls.length, 0);
          this.#terminal.out(
            `episode ${number}, turn ${turn}: ${status}${finishReason ? ` (${finishReason})` : ''}; ${plural(calls, 'call')} in all`,
          );
        }
      }
    };
  }

  /** A word about a request, told once however many episodes repeat it. */
  notice(text: string): void {
    if (this.#notices.has(text)) return;
    this.#notices.add(text);
    if (this.#json) this.#terminal.out(jsonText({ kind: 'notice', text }));
    else this.#terminal.err(`${this.#terminal.paintErr.yellow('note')}: ${text}`);
  }

  /** What a person should act on; told once, and again in the summary. */
  warn(text: string): void {
    if (this.#warnings.has(text)) return;
    this.#warnings.add(text);
    if (this.#json) this.#terminal.out(jsonText({ kind: 'warning', text }));
    else this.#terminal.err(`${this.#terminal.paintErr.red('warning')}: ${text}`);
  }

  counts(): Counts {
    const byStatus: Counts['byStatus'] = {};
    const untrainable: Counts['untrainable'] = {};
    let trainable = 0;
    for (const episode of this.#episodes) {
      for (const { status } of episode.calls) byStatus[status] = (byStatus[status] ?? 0) + 1;
      const reason = episode.untrainable?.replace(/^turn \d+: /, '');
      if (reason !== undefined) untrainable[reason] = (untrainable[reason] ?? 0) + 1;
      else if (episode.calls.length > 0) trainable++;
    }
    return {
      episodes: this.#episodes.length,
      calls: this.#episodes.reduce((sum, episode) => sum + episode.calls.length, 0),
      lost: this.#episodes.reduce((sum, episode) => sum + episode.lostCalls, 0),
      byStatus,
      trainable,
      untrainable,
    };
  }

  summary(directory: string): void {
    const counts = this.counts();
    const seconds = (performance.now() - this.#started) / 1000;
    if (this.#json) {
      this.#terminal.out(jsonText({ kind: 'summary', directory, ...counts, warnings: [...this.#warnings], seconds }));
      return;
    }
    const parts = Object.entries(counts.byStatus).map(([status, count]) => `${count} ${status}`);
    this.#terminal.out(
      `\n${plural(counts.episodes, 'episode')}, ${plural(counts.calls, 'call')}${parts.length > 0 ? ` (${parts.join(', ')})` : ''} in ${directory}`,
    );
    if (counts.trainable > 0)
      this.#terminal.out(`token ids and log-probs are whole in ${plural(counts.trainable, 'episode')}`);
    for (const [reason, count] of Object.entries(counts.untrainable))
      this.#terminal.out(`not to be trained on: ${plural(count, 'episode')}, because ${reason}`);
    for (const text of this.#warnings) this.#terminal.err(`${this.#terminal.paintErr.red('warning')}: ${text}`);
    if (counts.lost > 0) this.#terminal.err(`${plural(counts.lost, 'call')} could not be recorded`);
  }
}
