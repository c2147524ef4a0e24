/** The folders under policies/: the base planner, and checkpoints that became policy versions. */
import { existsSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Message } from '../../protocol/chat.ts';
import { defaultPlannerInit } from '../../protocol/config.ts';
import { policySection } from '../../protocol/ids.ts';
import type { PolicyRecord, ResolvedCall } from '../../protocol/records.ts';
import { transcriptPieces } from '../planner/corpus.ts';
import { initialisePlanner } from '../planner/initialise.ts';
import { requireSoundCheckpoint } from '../planner/inspect-checkpoint.ts';
import { makeFolder, syncDirectory, syncTree, writing } from '../store/index.ts';
import type { Trainer } from '../trainers/contract.ts';
import { TrainingError } from './contract.ts';
import type { RunContext } from './run-context.ts';

/**
 * Writes a folder so that it is there whole or not at all: `write` fills a temporary one beside it.
 * @param what the folder holds, for the error's sentence.
 * @throws StoreError when the disk fails; what was written so far is then removed.
 */
export async function writeFolder(
  folder: string,
  what: string,
  write: (temporary: string) => Promise<unknown>,
): Promise<void> {
  const temporary = `${folder}.partial`;
  await writing(folder, what, async () => {
    await rm(temporary, { recursive: true, force: true });
    await makeFolder(temporary);
    try {
      await write(temporary);
      // On disk before its name: the journal, which outlasts a power cut, is about to tell of it.
      await syncTree(temporary);
      await rm(folder, { recursive: true, force: true });
      await rename(temporary, folder);
      await syncDirectory(dirname(folder));
    } catch (error) {
      // A full disk is no better for half a checkpoint; the first error is the one to tell.
      await rm(temporary, { recursive: true, force: true }).catch(() => {});
      throw error;
    }
  });
}

/** Copies a folder so that it is there whole or not at all. */
export function placeFolder(from: string, to: string, what: string): Promise<void> {
  // Links are followed: a run holds its planners itself, and writes nothing into a folder that is not its own.
  return writeFolder(to, what, (temporary) => cp(from, temporary, { recursive: true, dereference: true }));
}

/** Exports a trainer's weights and moments so that they are there whole or not at all. */
export function exportWhole(trainer: Trainer, folder: string, what: string): Promise<void> {
  return writeFolder(folder, what, async (temporary) => {
    await trainer.exportCheckpoint(temporary);
    await trainer.saveOptimizer(join(temporary, 'optimizer'));
  });
}

/** Makes a checkpoint folder policy `policy.version`: policy.json written, journal told. */
export async function registerPolicy(context: RunContext, policy: PolicyRecord): Promise<void> {
  await context.store.section(policySection(policy.version)).writeJson('policy.json', policy);
  await context.journal({ type: 'policy-created', policy });
}

/**
 * policies/v0000: the configured checkpoint, or a fresh planner whose tokenizer is trained on harness text.
 * @throws TrainingError when a fresh planner is asked for and there is no teacher episode to take text from.
 */
export async function ensureBasePolicy(context: RunContext): Promise<void> {
  if (context.policies().some((policy) => policy.version === 0)) return;
  const folder = context.policyFolder(0);
  const { planner, seed } = context.config;
  if (planner.checkpoint !== undefined) {
    const from = resolve(context.configFolder, planner.checkpoint);
    // The files may have changed since the run began.
    await requireSoundCheckpoint(from);
    await placeFolder(from, folder, 'the base planner');
  } else {
    const corpus = await harnessText(context);
    if (corpus.length === 0)
      throw new TrainingError(
        'a fresh planner (planner.init) needs teacher episodes: its tokenizer is trained on their text. Run the teacher stage first, or give planner.checkpoint',
      );
    await writeFolder(folder, 'the fresh planner', (temporary) =>
      initialisePlanner(temporary, planner.init ?? defaultPlannerInit, corpus, seed),
    );
  }
  await registerPolicy(context, { version: 0, parent: null, stage: 'base', round: 0, step: 0, validation: null });
}

/** Text the planner will read and write: the teacher's last context of each episode, and every response. */
async function harnessText(context: RunContext): Promise<string[]> {
  if (!existsSync(context.path('teacher', 'calls.jsonl'))) return [];
  const recording = await context.recording();
  const calls = await recording.calls('teacher');
  await calls.refresh();
  const last = new Map<string, ResolvedCall>();
  for (let i = 0; i < calls.length; i++) {
    const record = await calls.get(i);
    if ('damaged' in record || record.status !== 'complete') continue;
    const call = await recording.resolveCall(record);
    if ('damaged' in call) continue;
    const known = last.get(call.episode);
    if (!known || known.turn < call.turn) last.set(call.episode, call);
  }
  // Order by id: the corpus, and so the tokenizer, must not depend on which episode ended first.
  return [...last.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, call]) =>
      transcriptPieces({ messages: [...call.request.messages, answer(call)], tools: call.request.tools }),
    );
}

function answer(call: ResolvedCall): Message {
  return {
    role: 'assistant',
    content: call.response?.content ?? null,
    reasoning_content: call.response?.reasoning ?? null,
    tool_calls: call.response?.toolCalls ?? [],
  };
}
