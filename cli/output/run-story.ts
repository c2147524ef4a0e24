/** A run's journal in sentences, and what stands beside a progress bar: success so far, the latest loss. */
import type { JournalEvent, ProgressTick } from '../../protocol/journal.ts';
import { duration, percent, plural, whole } from './format.ts';

export interface Sentence {
  text: string;
  severity?: 'warning' | 'error' | 'good';
}

const STAGE = {
  teacher: 'teacher',
  sft: 'supervised fine-tuning',
  rl: 'reinforcement learning',
  evaluate: 'evaluation',
};

export class RunStory {
  /** Successes and valid episodes since the last unit of work began. */
  #successes = 0;
  #valid = 0;
  #loss: number | undefined;
  #label = '';

  /** A few words about what a tick counts. */
  beside(tick: ProgressTick): string {
    if (tick.label !== this.#label) {
      this.#label = tick.label;
      this.#successes = 0;
      this.#valid = 0;
      this.#loss = undefined;
    }
    if (tick.unit === 'episodes' && this.#valid > 0) return `solved ${percent(this.#successes, this.#valid)}`;
    if (tick.unit === 'steps' && this.#loss !== undefined) return `loss ${this.#loss.toPrecision(3)}`;
    return '';
  }

  /** The sentence of an event, where it deserves one. */
  tell(event: JournalEvent): Sentence | undefined {
    switch (event.type) {
      case 'run-started':
        return { text: `run ${event.run}: ${event.stages.map((stage) => STAGE[stage]).join(', ')}` };
      case 'run-resumed':
        return { text: `resumed after entry ${event.afterSeq} of the journal` };
      case 'stage-started':
        return { text: `${STAGE[event.stage]} begins` };
      case 'stage-finished':
        return { text: `${STAGE[event.stage]} done in ${duration(event.seconds)}`, severity: 'good' };
      case 'episode-finished':
        if (event.valid) {
          this.#valid++;
          if (event.reward > 0) this.#successes++;
          return undefined;
        }
        return {
          text: `invalid episode ${event.episode}: ${event.invalidReason ?? 'no reason given'}`,
          severity: 'warning',
        };
      case 'targets-built': {
        const dropped = Object.entries(event.dropped).map(([reason, count]) => `${whole(count)} ${reason}`);
        return {
          text: `${plural(event.targets, 'target turn')}${dropped.length > 0 ? ` (left out: ${dropped.join(', ')})` : ''}`,
        };
      }
      case 'round-planned':
        return {
          text: `round ${event.round}: ${plural(event.groups, 'group')} of ${plural(event.attempts, 'attempt')} under policy v${event.policyVersion}`,
        };
      case 'round-collected':
        return {
          text: `round ${event.round}: ${plural(event.episodes, 'episode')} collected${event.invalid > 0 ? `, ${event.invalid} invalid` : ''}`,
        };
      case 'samples-built':
        return {
          text: `round ${event.round}: ${plural(event.selected, 'response')} selected`,
          severity: event.selected === 0 ? 'warning' : undefined,
        };
      case 'step':
        this.#loss = event.record.loss;
        return undefined;
      case 'checkpoint':
        return { text: `checkpoint ${event.number} at step ${event.step}` };
      case 'evaluated': {
        const { total, id } = event.summary;
        const valid = total.episodes - total.invalid;
        return {
          text: `${id}: ${total.successes} of ${valid} solved (${percent(total.successes, valid)})${total.invalid > 0 ? `, ${total.invalid} invalid` : ''}`,
        };
      }
      case 'checkpoint-chosen':
        return {
          text: `checkpoint ${event.number} chosen as policy v${event.policyVersion}: ${event.successes} of ${event.episodes} validation episodes solved`,
          severity: 'good',
        };
      case 'policy-created':
        return {
          text: `policy v${event.policy.version} written (${event.policy.stage}, ${plural(event.policy.step, 'step')})`,
        };
      case 'round-finished':
        return { text: `round ${event.round} done: policy v${event.policyVersion}`, severity: 'good' };
      case 'warning':
        return { text: event.message, severity: 'warning' };
      case 'run-stopped':
        return { text: 'the run stops here and can be resumed', severity: 'warning' };
      case 'run-failed':
        return { text: `the run failed: ${event.message}`, severity: 'error' };
      case 'run-finished':
        return { text: `run finished in ${duration(event.seconds)}`, severity: 'good' };
      case 'policy-served':
        return undefined;
    }
  }
}
