/** What a sound config refers to: the adapter, the checkpoint, the task suites. Asks for files only through a lookup. */
import type { TrainingConfig } from '../../protocol/config.ts';
import type { ConfigReading } from '../../protocol/config-text.ts';
import type { Path } from '../../protocol/config-tree.ts';
import type { Finding } from '../../protocol/finding.ts';
import { nearest } from '../../protocol/nearest.ts';

/** The files around a config, as far as findings need them. */
export interface Surroundings {
  /** What lies at a path relative to the config's folder (or at an absolute one). */
  kind(path: string): 'file' | 'folder' | undefined;
  /** Names of the adapters that come with the product. */
  shippedAdapters: readonly string[];
}

/** Whether `harness.adapter` is a path and not the name of a shipped adapter. */
export function isAdapterPath(adapter: string): boolean {
  return /[\\/]/.test(adapter) || /\.[cm]?[jt]s$/.test(adapter);
}

/** Findings about what a config without errors refers to. */
export function referenceFindings(reading: ConfigReading, around: Surroundings, file?: string): Finding[] {
  const config = reading.config;
  if (!config) return [];
  const findings: Finding[] = [];
  const add = (severity: Finding['severity'], code: string, path: Path, message: string) =>
    findings.push({ code, severity, message, file, ...reading.locate(path), path: path.join('.') });
  checkAdapter(config, around, add);
  checkCheckpoint(config, around, add);
  return findings;
}

type Add = (severity: Finding['severity'], code: string, path: Path, message: string) => void;

function checkAdapter(config: TrainingConfig, around: Surroundings, add: Add): void {
  const { adapter } = config.harness;
  const at = ['harness', 'adapter'];
  if (!isAdapterPath(adapter)) {
    if (around.shippedAdapters.includes(adapter)) return;
    const near = nearest(adapter, around.shippedAdapters);
    const advice = near
      ? `did you mean "${near}"?`
      : around.kind(adapter) || around.kind(`${adapter}.ts`) || around.kind(`${adapter}.mjs`)
        ? `for a file beside the config write ./${adapter}`
        : `shipped are ${around.shippedAdapters.join(', ')}; your own is a path such as ./adapters/mine.ts`;
    add('error', 'unknown-adapter', at, `no adapter "${adapter}" is shipped; ${advice}`);
    return;
  }
  const kind = around.kind(adapter);
  if (kind === undefined)
    add('error', 'missing-adapter', at, `there is no file ${adapter} (paths start from the config's folder)`);
  else if (kind === 'folder') add('error', 'missing-adapter', at, `${adapter} is a folder; an adapter is one file`);
  else if (!/\.(ts|mts|mjs|js)$/.test(adapter))
    add('error', 'missing-adapter', at, `${adapter} is not a TypeScript or JavaScript module (.ts, .mjs)`);
}

function checkCheckpoint(config: TrainingConfig, around: Surroundings, add: Add): void {
  const { checkpoint } = config.planner;
  if (checkpoint === undefined) return;
  const at = ['planner', 'checkpoint'];
  const kind = around.kind(checkpoint);
  if (kind !== 'folder') {
    add(
      'error',
      'missing-checkpoint',
      at,
      kind === 'file'
        ? `${checkpoint} is a file; a checkpoint is a Hugging Face folder with config.json, tokenizer.json and model.safetensors`
        : `there is no folder ${checkpoint} (paths start from the config's folder)`,
    );
    return;
  }
  const missing = ['config.json', 'tokenizer.json'].filter((name) => around.kind(`${checkpoint}/${name}`) !== 'file');
  if (!around.kind(`${checkpoint}/model.safetensors`) && !around.kind(`${checkpoint}/model.safetensors.index.json`))
    missing.push('model.safetensors');
  if (missing.length > 0) add('error', 'missing-checkpoint', at, `${checkpoint} lacks ${missing.join(' and ')}`);
}
