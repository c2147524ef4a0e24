/**
 * Every name that the editor knows us by. package.json repeats them, as VS Code wants it; test/unit/extension/manifest
 * holds that both say the same.
 */

/** Ids of commands. Those of code lenses are the language server's words as well. */
export const COMMANDS = {
  train: 'agenticRoboRL.train',
  stopTraining: 'agenticRoboRL.stopTraining',
  resumeTraining: 'agenticRoboRL.resumeTraining',
  runEpisode: 'agenticRoboRL.runEpisode',
  replayEpisode: 'agenticRoboRL.replayEpisode',
  openSampleRun: 'agenticRoboRL.openSampleRun',
  evaluateCheckpoint: 'agenticRoboRL.evaluateCheckpoint',
  compareRuns: 'agenticRoboRL.compareRuns',
  serveCheckpoint: 'agenticRoboRL.serveCheckpoint',
  stopServing: 'agenticRoboRL.stopServing',
  showAddress: 'agenticRoboRL.showAddress',
  activatePolicy: 'agenticRoboRL.activatePolicy',
  checkAdapter: 'agenticRoboRL.checkAdapter',
  openRunPage: 'agenticRoboRL.openRunPage',
  openStage: 'agenticRoboRL.openStage',
  newAdapter: 'agenticRoboRL.newAdapter',
  newConfig: 'agenticRoboRL.newConfig',
  doctor: 'agenticRoboRL.doctor',
  showLogs: 'agenticRoboRL.showLogs',
  showDaemonLog: 'agenticRoboRL.showDaemonLog',
  restartDaemon: 'agenticRoboRL.restartDaemon',
  stopDaemon: 'agenticRoboRL.stopDaemon',
  restartLanguageServer: 'agenticRoboRL.restartLanguageServer',
  refreshRuns: 'agenticRoboRL.refreshRuns',
  showMore: 'agenticRoboRL.showMore',
  openSelected: 'agenticRoboRL.openSelected',
  filterRuns: 'agenticRoboRL.filterRuns',
  clearRunsFilter: 'agenticRoboRL.clearRunsFilter',
  followNewest: 'agenticRoboRL.followNewest',
  stopFollowing: 'agenticRoboRL.stopFollowing',
  openTranscript: 'agenticRoboRL.openTranscript',
  goToCall: 'agenticRoboRL.goToCall',
  stepBack: 'agenticRoboRL.stepBack',
  reverse: 'agenticRoboRL.reverse',
  nextCall: 'agenticRoboRL.nextCall',
  previousCall: 'agenticRoboRL.previousCall',
  toggleContext: 'agenticRoboRL.toggleContext',
  showFullTranscript: 'agenticRoboRL.showFullTranscript',
  showSampled: 'agenticRoboRL.showSampled',
  chooseTokenHeat: 'agenticRoboRL.chooseTokenHeat',
  compareAttempts: 'agenticRoboRL.compareAttempts',
  comparePrompts: 'agenticRoboRL.comparePrompts',
} as const;

/** Settings without the section's name. */
export const SETTINGS = {
  nodePath: 'node.path',
  traceServer: 'trace.server',
  checkOnSave: 'adapter.checkOnSave',
  adapterOutputs: 'adapter.outputs',
  tokenHeat: 'replay.tokenHeat',
} as const;

/** Prefix of every setting. */
export const SECTION = 'agenticRoboRL';

export const VIEW_CONTAINER = 'agentic-robo-rl';
export const VIEWS = {
  runs: 'agenticRoboRL.runs',
  policies: 'agenticRoboRL.policies',
  adapters: 'agenticRoboRL.adapters',
} as const;

/** Kinds of webviews. */
export const PANELS = { runPage: 'agenticRoboRL.runPage', stage: 'agenticRoboRL.stage' } as const;

/** Conditions that menus ask for. */
export const CONTEXTS = {
  /** A run of this window's daemons is at work. */
  training: 'agenticRoboRL.training',
  /** Every folder has a run at work: none can be started. */
  busy: 'agenticRoboRL.busy',
  /** A daemon of this window serves a planner. */
  serving: 'agenticRoboRL.serving',
  /** The tree of runs is narrowed. */
  filtered: 'agenticRoboRL.filtered',
  /** The tree of runs keeps the newest episode in sight. */
  following: 'agenticRoboRL.following',
} as const;

/** `contextValue` of tree items that menus ask for: `run-` and the run's state. */
export const RUN_ITEM = 'run-';
/** Of episodes in the tree of runs. */
export const EPISODE_ITEM = 'episode';

/** Of calls and samples in the tree of runs. */
export const CALL_ITEM = 'episode-call';

/** `contextValue` of items in the tree of policies. */
export const POLICY_ITEMS = { served: 'served', present: 'policy-present', absent: 'policy-absent' } as const;

/** `contextValue` of adapters in their tree. */
export const ADAPTER_ITEM = 'adapter';

/** Where the last checks of adapters are kept in the workspace's state. */
export const LAST_CHECKS = 'lastChecks';

/** Language of `*.training.yaml`. JSON configs stay JSON, adapters stay TypeScript or JavaScript. */
export const CONFIG_LANGUAGE = 'agentic-robo-rl-config';

/** Of debug sessions: the replay of an episode. */
export const DEBUG_TYPE = 'planner-replay';

export const TASK_TYPE = 'agentic-robo-rl';
export const PROBLEM_MATCHER = 'agentic-robo-rl';
export const WALKTHROUGH = 'agenticRoboRL.firstSteps';

/** Request to the language server: results of a check of an adapter, to be shown at its fields. */
export const CHECK_RESULTS_REQUEST = 'agenticRoboRL/adapterCheckResults';

/** Of documents that are texts to read: tables of runs. */
export const TEXT_SCHEME = 'agentic-robo-rl-text';

/** Language of transcripts; their documents have the scheme that recordings/ gives them. */
export const TRANSCRIPT_LANGUAGE = 'planner-episode';

/** Of documents that are images of a recording. */
export const IMAGE_SCHEME = 'planner-image';

const token = (level: string) => ({
  background: `agenticRoboRL.token.${level}Background`,
  border: `agenticRoboRL.token.${level}Border`,
});
/** Colours that themes may change. */
export const COLORS = {
  currentCall: 'agenticRoboRL.currentCallBackground',
  currentCallBorder: 'agenticRoboRL.currentCallBorder',
  token: {
    unlikely1: token('unlikely1'),
    unlikely2: token('unlikely2'),
    unlikely3: token('unlikely3'),
    unlikely4: token('unlikely4'),
    up1: token('up1'),
    up2: token('up2'),
    down1: token('down1'),
    down2: token('down2'),
  },
} as const;

/** Name of the client and of the output channel. */
export const DISPLAY_NAME = 'AgenticRoboRL';

/** Files that the language server looks at, as globs. */
export const CONFIG_FILES = '**/*.training.{yaml,yml,json}';
export const ADAPTER_FILES = '**/*.adapter.{ts,mts,cts,js,mjs,cjs}';
