/**
 * What a run's journal tells so far, folded into one value: daemon and editor both hold it, and both go on with the same
 * function. State after entry n plus the entries after n is the state now, whoever folded the first n.
 */
import { z } from 'zod';
import { type JournalLine, type Stage, stageSchema } from './journal.ts';
import { SUCCESS_REWARD } from './outcome.ts';
import { evaluationSummarySchema, policySchema, stepSchema } from './records.ts';

const count = z.number().int().nonnegative();

/** Episodes of one section (`teacher`, `rounds/0001`, `evaluations/<id>`) that are on disk. */
export const sectionTallySchema = z.strictObject({
  section: z.string(),
  episodes: count,
  /** Valid episodes with a reward of success. */
  successes: count,
  invalid: count,
  /** Complete planner calls of these episodes. */
  calls: count,
  /** Sum of the rewards of valid episodes. */
  rewards: z.number(),
});
export type SectionTally = z.output<typeof sectionTallySchema>;

export const roundStateSchema = z.strictObject({
  round: z.number().int().positive(),
  /** Policy that collects. */
  policyVersion: count,
  groups: count,
  /** Attempts a group. */
  attempts: count,
  state: z.enum(['collecting', 'building', 'updating', 'finished']),
  /** Responses chosen for the update; null before samples are built. */
  selected: count.nullable(),
  /** Calls by sample status, for example `zero-weight:equal-rewards`. */
  samplesByStatus: z.record(z.string(), count),
  /** Policy that the round ended with. */
  result: count.nullable(),
});
export type RoundState = z.output<typeof roundStateSchema>;

export const runStateSchema = z.strictObject({
  /** Last journal entry that went in; 0 for none. */
  seq: count,
  /** How the journal ends. A run that was killed stays `open`; whether a process writes to it is another question. */
  phase: z.enum(['empty', 'open', 'stopped', 'failed', 'finished']),
  startedAt: z.iso.datetime().nullable(),
  /** Time of the last entry. */
  changedAt: z.iso.datetime().nullable(),
  /** The stages asked for, in order, and how far each is. */
  stages: z.array(
    z.strictObject({
      stage: stageSchema,
      state: z.enum(['waiting', 'begun', 'done']),
      /** When it last began. */
      startedAt: z.iso.datetime().nullable(),
      /** Of the life that finished it. */
      seconds: z.number().nullable(),
    }),
  ),
  /** The stage begun last. */
  stage: stageSchema.nullable(),
  sections: z.array(sectionTallySchema),
  targets: z.strictObject({ targets: count, dropped: z.record(z.string(), count) }).nullable(),
  /** Optimizer steps done in each stage, and the newest. All of them: `steps.list`. */
  steps: z.strictObject({
    sft: z.strictObject({ done: count, last: stepSchema.nullable() }),
    rl: z.strictObject({ done: count, last: stepSchema.nullable() }),
  }),
  checkpoints: z.array(
    z.strictObject({
      stage: z.enum(['sft', 'rl']),
      number: z.number().int(),
      step: z.number().int(),
      path: z.string(),
    }),
  ),
  rounds: z.array(roundStateSchema),
  /** By version; `chosen` ones were chosen on the validation states. */
  policies: z.array(policySchema),
  chosen: z.array(
    z.strictObject({
      stage: z.enum(['sft', 'rl']),
      policyVersion: count,
      checkpoint: z.number().int(),
      successes: count,
      episodes: count,
    }),
  ),
  /** Policy that answers planner calls. */
  served: count.nullable(),
  evaluations: z.array(evaluationSummarySchema),
  /** The newest hundred, oldest first, and how many there were in all. */
  warnings: z.array(z.string()),
  warningCount: count,
  /** Why the run failed, where it ends so. */
  failure: z.string().nullable(),
});
export type RunState = z.output<typeof runStateSchema>;

const MOST_WARNINGS = 100;

/** The state before the first entry. */
export function emptyRunState(): RunState {
  return {
    seq: 0,
    phase: 'empty',
    startedAt: null,
    changedAt: null,
    stages: [],
    stage: null,
    sections: [],
    targets: null,
    steps: { sft: { done: 0, last: null }, rl: { done: 0, last: null } },
    checkpoints: [],
    rounds: [],
    policies: [],
    chosen: [],
    served: null,
    evaluations: [],
    warnings: [],
    warningCount: 0,
    failure: null,
  };
}

/** Takes the next journal entry into a state, in place. Entries that went in before are left out. */
export function applyJournal(state: RunState, line: JournalLine): void {
  if (line.seq <= state.seq) return;
  state.seq = line.seq;
  state.changedAt = line.at;
  const { event } = line;
  switch (event.type) {
    case 'run-started':
      state.phase = 'open';
      state.startedAt = line.at;
      state.stages = event.stages.map((stage) => ({ stage, state: 'waiting', startedAt: null, seconds: null }));
      return;
    case 'run-resumed':
      state.phase = 'open';
      state.failure = null;
      state.served = null;
      return;
    case 'stage-started': {
      state.phase = 'open';
      state.stage = event.stage;
      const stage = stageOf(state, event.stage);
      stage.state = 'begun';
      stage.startedAt = line.at;
      return;
    }
    case 'stage-finished': {
      const stage = stageOf(state, event.stage);
      stage.state = 'done';
      stage.seconds = event.seconds;
      return;
    }
    case 'episode-finished': {
      const tally = sectionOf(state, event.section);
      tally.episodes++;
      tally.calls += event.turns;
      if (!event.valid) tally.invalid++;
      else {
        tally.rewards += event.reward;
        if (event.reward >= SUCCESS_REWARD) tally.successes++;
      }
      return;
    }
    case 'targets-built':
      state.targets = { targets: event.targets, dropped: event.dropped };
      return;
    case 'round-planned':
      put(state.rounds, 'round', {
        round: event.round,
        policyVersion: event.policyVersion,
        groups: event.groups,
        attempts: event.attempts,
        state: 'collecting',
        selected: null,
        samplesByStatus: {},
        result: null,
      });
      return;
    case 'round-collected':
      change(state, event.round, { state: 'building' });
      return;
    case 'samples-built':
      change(state, event.round, {
        state: 'updating',
        selected: event.selected,
        samplesByStatus: event.byStatus,
      });
      return;
    case 'round-finished':
      change(state, event.round, { state: 'finished', result: event.policyVersion });
      return;
    case 'step': {
      const { record } = event;
      // An update that was cut short is taken again from its start.
      state.steps[record.stage] = { done: record.step, last: record };
      return;
    }
    case 'checkpoint': {
      const { stage, number, step, path } = event;
      state.checkpoints = state.checkpoints.filter((one) => one.stage !== stage || one.number !== number);
      state.checkpoints.push({ stage, number, step, path });
      return;
    }
    case 'evaluated':
      put(state.evaluations, 'id', event.summary);
      return;
    case 'checkpoint-chosen': {
      const { stage, number, policyVersion, successes, episodes } = event;
      put(state.chosen, 'stage', { stage, policyVersion, checkpoint: number, successes, episodes });
      return;
    }
    case 'policy-created':
      put(state.policies, 'version', event.policy);
      state.policies.sort((a, b) => a.version - b.version);
      return;
    case 'policy-served':
      state.served = event.policyVersion;
      return;
    case 'warning':
      state.warningCount++;
      state.warnings.push(event.message);
      if (state.warnings.length > MOST_WARNINGS) state.warnings.shift();
      return;
    case 'run-stopped':
      state.phase = 'stopped';
      state.served = null;
      return;
    case 'run-failed':
      state.phase = 'failed';
      state.failure = event.message;
      state.served = null;
      return;
    case 'run-finished':
      state.phase = 'finished';
      state.served = null;
      return;
  }
}

function stageOf(state: RunState, stage: Stage): RunState['stages'][number] {
  let found = state.stages.find((one) => one.stage === stage);
  if (!found) {
    // Asked for in a later life of the run than the first.
    found = { stage, state: 'waiting', startedAt: null, seconds: null };
    state.stages.push(found);
    const order = stageSchema.options;
    state.stages.sort((a, b) => order.indexOf(a.stage) - order.indexOf(b.stage));
  }
  return found;
}

function sectionOf(state: RunState, section: string): SectionTally {
  let found = state.sections.find((one) => one.section === section);
  if (!found) {
    found = { section, episodes: 0, successes: 0, invalid: 0, calls: 0, rewards: 0 };
    state.sections.push(found);
  }
  return found;
}

function change(state: RunState, round: number, to: Partial<RoundState>): void {
  const found = state.rounds.find((one) => one.round === round);
  if (found) Object.assign(found, to);
}

/** Adds an item, or puts it in the place of the one with the same key. */
function put<T, K extends keyof T>(items: T[], key: K, item: T): void {
  const at = items.findIndex((one) => one[key] === item[key]);
  if (at < 0) items.push(item);
  else items[at] = item;
}
