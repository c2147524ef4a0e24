/** Teacher episodes: collected through the same proxy and records as any other. */

import type { TrainingConfig } from '../../protocol/config.ts';
import { newRunAdvice } from '../../protocol/new-run.ts';
import type { Upstream } from '../proxy/contract.ts';
import { createUpstream } from '../proxy/index.ts';
import type { LoadedAdapter } from '../rollouts/contract.ts';
import { startScriptedTeacher } from '../rollouts/index.ts';
import { teacherJobs } from '../sft/jobs.ts';
import { TrainingError } from './contract.ts';
import { collectEpisodes } from './episodes.ts';
import type { RunContext } from './run-context.ts';
import { chosenTasks } from './tasks.ts';

export async function runTeacherStage(context: RunContext): Promise<void> {
  const { config } = context;
  checkTeacher(config, context.adapter);
  const keys = teacherJobs({
    run: context.store.info.id,
    tasks: await chosenTasks(context),
    states: config.splits.training,
    episodesPerTask: config.teacher.episodesPerTask,
    seed: config.seed,
  });
  let close: (() => Promise<void>) | undefined;
  try {
    const { episodes } = await collectEpisodes(context, {
      section: 'teacher',
      keys,
      upstream: async () => {
        const started = await startTeacher(context);
        close = started.close;
        return started.upstream;
      },
      sampling: config.rl.sampling,
      stage: 'teacher',
      label: 'teacher episodes',
    });
    const successes = episodes.filter((episode) => episode.valid && episode.reward > 0).length;
    if (successes === 0)
      throw new TrainingError(
        `none of the ${episodes.length} teacher episodes succeeded: there is nothing to fine-tune on. Look at ${context.path('teacher', 'output')}; then ${newRunAdvice('name another teacher, or raise harness.limits,')}`,
      );
  } finally {
    await close?.();
  }
}

/** @throws TrainingError when the teacher that the config names cannot be had. */
export function checkTeacher(
  { teacher }: TrainingConfig,
  adapter: Pick<LoadedAdapter, 'name' | 'hasScriptedTeacher'>,
): void {
  if (teacher.upstream !== 'scripted') servedTeacher(teacher);
  else if (!adapter.hasScriptedTeacher)
    throw new TrainingError(
      `teacher.upstream is "scripted", but the adapter "${adapter.name}" ships no scripted teacher; name a served model with teacher.upstream, url and model`,
    );
}

function servedTeacher(teacher: TrainingConfig['teacher']): { apiKey: string | null; url: string; model: string } {
  const apiKey = teacher.apiKeyEnvironment === null ? null : process.env[teacher.apiKeyEnvironment];
  if (apiKey === undefined)
    throw new TrainingError(
      `teacher.apiKeyEnvironment: the environment variable ${teacher.apiKeyEnvironment} is not set`,
    );
  if (teacher.url === null || teacher.model === null)
    throw new TrainingError('teacher.url and teacher.model are required for a served teacher');
  return { apiKey, url: teacher.url, model: teacher.model };
}

async function startTeacher(context: RunContext): Promise<{ upstream: Upstream; close: () => Promise<void> }> {
  const { teacher } = context.config;
  if (teacher.upstream === 'scripted') {
    return startScriptedTeacher(context.adapter, context.roster);
  }
  const { apiKey, url, model } = servedTeacher(teacher);
  const upstream = createUpstream({
    kind: teacher.upstream,
    url,
    model,
    apiKey,
    policyVersion: () => null,
  });
  return { upstream, close: async () => {} };
}
