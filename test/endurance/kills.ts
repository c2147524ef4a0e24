/**
 * Kills `train` with SIGKILL again and again and lets it go on each time. Moments are events of the run, not points of
 * time, so that every stage is hit however fast the machine is; which of several like events, and how many milliseconds
 * after it, is drawn from a seed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalEvent, RunEvent, Stage } from '../../protocol/journal.ts';
import { Random } from '../../protocol/random.ts';
import { startCli } from '../integration/cli-process.ts';

export interface Moment {
  name: string;
  stage: Stage;
  at: (event: RunEvent) => boolean;
  /** How many events like it may pass at most before the kill. */
  skip?: number;
}

const journal =
  (wanted: (event: JournalEvent) => boolean) =>
  (event: RunEvent): boolean =>
    event.kind === 'journal' && wanted(event.line.event);
const episode = (section: string) => journal((e) => e.type === 'episode-finished' && e.section === section);
const stage = (type: 'stage-started' | 'stage-finished', name: Stage) =>
  journal((e) => e.type === type && e.stage === name);
const validated = (id: string) => journal((e) => e.type === 'evaluated' && e.summary.id === id);
const rlStep = (round: number) =>
  journal((e) => e.type === 'step' && e.record.stage === 'rl' && e.record.round === round);
const sftCheckpoint = (number: number) =>
  journal((e) => e.type === 'checkpoint' && e.stage === 'sft' && e.number === number);

/** In the order in which a run of two rounds and three checkpoints, with one update of several steps a round, has them. */
export const MOMENTS: readonly Moment[] = [
  { name: 'the teacher begins', stage: 'teacher', at: stage('stage-started', 'teacher') },
  { name: 'teacher episodes', stage: 'teacher', at: episode('teacher'), skip: 3 },
  { name: 'later teacher episodes', stage: 'teacher', at: episode('teacher'), skip: 2 },
  { name: 'the fresh planner', stage: 'sft', at: stage('stage-started', 'sft') },
  { name: 'targets', stage: 'sft', at: journal((e) => e.type === 'targets-built') },
  { name: 'the first step', stage: 'sft', at: journal((e) => e.type === 'step' && e.record.stage === 'sft') },
  { name: 'checkpoint 1', stage: 'sft', at: sftCheckpoint(1) },
  { name: 'checkpoint 2', stage: 'sft', at: sftCheckpoint(2) },
  { name: 'validation of a checkpoint', stage: 'sft', at: episode('evaluations/validation-v0001-k02'), skip: 3 },
  { name: 'the choice', stage: 'sft', at: validated('validation-v0001-k03') },
  { name: 'policy v1', stage: 'sft', at: journal((e) => e.type === 'checkpoint-chosen' && e.stage === 'sft') },
  { name: 'the plan of round 1', stage: 'rl', at: journal((e) => e.type === 'round-planned' && e.round === 1) },
  { name: 'episodes of round 1', stage: 'rl', at: episode('rounds/0001'), skip: 5 },
  { name: 'samples of round 1', stage: 'rl', at: journal((e) => e.type === 'round-collected' && e.round === 1) },
  { name: 'old log-probs of round 1', stage: 'rl', at: journal((e) => e.type === 'samples-built' && e.round === 1) },
  { name: 'the update of round 1', stage: 'rl', at: rlStep(1), skip: 2 },
  { name: 'validation in round 1', stage: 'rl', at: episode('evaluations/validation-v0002'), skip: 3 },
  {
    name: 'the end of round 1',
    stage: 'rl',
    at: journal((e) => e.type === 'policy-created' && e.policy.version === 2),
  },
  { name: 'episodes of round 2', stage: 'rl', at: episode('rounds/0002'), skip: 7 },
  { name: 'the update of round 2', stage: 'rl', at: rlStep(2), skip: 2 },
  { name: 'the choice among rounds', stage: 'rl', at: journal((e) => e.type === 'round-finished' && e.round === 2) },
  { name: 'the evaluation of the base', stage: 'evaluate', at: episode('evaluations/evaluation-v0000'), skip: 3 },
  { name: 'the evaluation of SFT', stage: 'evaluate', at: episode('evaluations/evaluation-v0001'), skip: 3 },
  { name: 'the end of an evaluation', stage: 'evaluate', at: validated('evaluation-v0001') },
];

/** `count` of the moments, in their order, by seed; of every stage at least one where there are four or more. */
export function drawMoments(count: number, seed: number): Moment[] {
  const shuffled = new Random('kill moments', seed).shuffle([...MOMENTS]);
  const firstOfStage = shuffled.filter((moment, i) => shuffled.findIndex(({ stage }) => stage === moment.stage) === i);
  const drawn = new Set([...firstOfStage, ...shuffled].slice(0, Math.max(count, 0)));
  for (const moment of shuffled) if (drawn.size < count) drawn.add(moment);
  return MOMENTS.filter((moment) => drawn.has(moment));
}

export interface Kill {
  moment: string;
  /** The stage that was at work by the journal on disk; undefined between stages. */
  stage: Stage | undefined;
  /** Milliseconds between the event and the signal. */
  delay: number;
}

/**
 * Runs `train CONFIG --run RUN` and kills it at every moment, then lets it end.
 * @param onKilled told after each death, before the next life.
 * @throws Error when a moment does not come, or the last life does not end well.
 */
export async function trainWithKills(
  folder: string,
  config: string,
  run: string,
  moments: readonly Moment[],
  seed: number,
  onKilled?: (kill: Kill) => void,
): Promise<Kill[]> {
  const random = new Random('kill delays', seed);
  const kills: Kill[] = [];
  // Before run.json is there a run cannot be resumed, only begun.
  const words = () =>
    existsSync(join(run, 'run.json'))
      ? ['train', '--resume', run, '--json']
      : ['train', config, '--run', run, '--json'];
  for (const [index, moment] of moments.entries()) {
    const skip = random.int((moment.skip ?? 0) + 1);
    const delay = random.int(61);
    const life = startCli(folder, words());
    const reached = await comes(life, moment, skip);
    await new Promise((resolve) => setTimeout(resolve, delay));
    // By turns the process alone, as a machine short of memory does it, and all that a terminal would end.
    if (index % 2 === 0) life.child.kill('SIGKILL');
    else life.signal('SIGKILL');
    await life.ended;
    const kill = { moment: reached.name, stage: openStage(run), delay };
    kills.push(kill);
    onKilled?.(kill);
  }
  const last = startCli(folder, words());
  const { code, err, out } = await last.ended;
  if (code !== 0) throw new Error(`the last life ended with code ${code}: ${err}${out.slice(-2000)}`);
  return kills;
}

/**
 * Resolves with the moment at the event after `skip` others like it, those of earlier lives not counted; with a later
 * moment when that comes first, as it does when the life before was killed a little late.
 */
function comes(life: ReturnType<typeof startCli>, wanted: Moment, skip: number): Promise<Moment> {
  const later = MOMENTS.slice(MOMENTS.findIndex(({ name }) => name === wanted.name) + 1);
  let left = skip;
  return new Promise((resolve, reject) => {
    life.onLine((line) => {
      const event = JSON.parse(line) as RunEvent;
      if (event.kind === 'journal' && event.past) return;
      if (wanted.at(event) && left-- === 0) resolve(wanted);
      const passed = later.find((moment) => moment.at(event));
      if (passed) resolve(passed);
    });
    life.ended.then(({ out, err }) => reject(new Error(`"${wanted.name}" did not come: ${err}${out.slice(-1500)}`)));
  });
}

/** The stage at work by the journal, a torn last line left out. */
function openStage(run: string): Stage | undefined {
  let open: Stage | undefined;
  for (const line of readFileSync(join(run, 'journal.jsonl'), 'utf8').split('\n').slice(0, -1)) {
    const { event } = JSON.parse(line) as { event: JournalEvent };
    if (event.type === 'stage-started') open = event.stage;
    if (event.type === 'stage-finished') open = undefined;
  }
  return open;
}
