/** Which journal entries are news for somebody who listens to the page. */
import type { JournalEvent } from '../../protocol/journal.ts';
import type { PageNews } from './messages.ts';

/** The news in an entry; undefined for the many that are none. */
export function newsOf(event: JournalEvent): PageNews | undefined {
  switch (event.type) {
    case 'stage-finished':
      return { kind: 'stage-done', values: [event.stage] };
    case 'round-finished':
      return { kind: 'round-done', values: [String(event.round), String(event.policyVersion)] };
    case 'evaluated': {
      const { id, total } = event.summary;
      return { kind: 'evaluated', values: [id, String(total.successes), String(total.episodes - total.invalid)] };
    }
    case 'checkpoint-chosen':
      return { kind: 'chosen', values: [String(event.policyVersion)] };
    case 'warning':
      return { kind: 'warning', values: [event.message.slice(0, 500)] };
    case 'run-stopped':
      return { kind: 'stopped', values: [] };
    case 'run-failed':
      return { kind: 'failed', values: [event.message.slice(0, 500)] };
    case 'run-finished':
      return { kind: 'finished', values: [] };
    default:
      return undefined;
  }
}
