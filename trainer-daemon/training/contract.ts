/** The run as one library function: what the command line and the daemon call. */
import type { TrainingConfig } from '../../protocol/config.ts';
import type { CrossFieldProblem } from '../../protocol/config-checks.ts';
import type { RunEvent, Stage } from '../../protocol/journal.ts';

/** Asks a run to end; may be changed while it runs. `now` ends running episodes, which then run again on resume. */
export interface StopControl {
  mode: 'none' | 'episode' | 'round' | 'now';
}

export interface TrainOptions {
  /** The config as parsed; not needed with `resume`, where the run's own copy counts. */
  config?: TrainingConfig;
  /** Folder that relative paths of the config start from. */
  configFolder: string;
  /** Where to write a new run; default `<configFolder>/runs/<name>-<UTC time>`. */
  runDirectory?: string;
  /** Directory of a run to go on with. */
  resume?: string;
  /** Default: all four, in order. */
  stages?: Stage[];
  /** Fewer RL rounds than the config says. */
  rounds?: number;
  /** With the stage evaluate: these policy versions instead of the base, fine-tuned and chosen RL planner. */
  policies?: number[];
  signal?: AbortSignal;
  stop?: StopControl;
  onEvent?: (event: RunEvent) => void;
}

export interface TrainResult {
  state: 'finished' | 'stopped';
  /** The run directory. */
  directory: string;
  /** Final table as text (80 columns), when the evaluate stage ran. */
  table?: string;
  /** The same as data. */
  tableJson?: unknown;
  /** Nothing was left to do and no file was touched. */
  alreadyFinished?: true;
  /** What a person should hear at the end: stages that lost many of their episodes to infrastructure. */
  warnings?: string[];
}

export interface ForecastRow {
  stage: string;
  episodes: number;
  /** Planner calls at most. */
  calls: number;
  optimizerSteps: number;
  diskBytes: number;
  note: string;
}

export interface RunForecast {
  rows: ForecastRow[];
  tasks: number;
  suites: string[];
}

/** A problem a person can mend: wrong checkpoint, missing teacher, resumed run of another config. */
export class TrainingError extends Error {}

/** A config that does not fit what its adapter lists. Each problem has the path of its key, to be shown in the file. */
export class ConfigError extends TrainingError {
  readonly problems: CrossFieldProblem[];

  constructor(problems: CrossFieldProblem[]) {
    super(problems.map(({ message }) => message).join('; '));
    this.problems = problems;
  }
}

/** A run that had begun has failed; the cause is what failed it. It can be resumed. */
export class RunFailed extends TrainingError {
  /** The run directory. */
  readonly directory: string;

  constructor(message: string, directory: string, cause: unknown) {
    super(message, { cause });
    this.directory = directory;
  }
}
