/** What each method of the contract does. Parameters have been checked; results are what the contract says. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  adapterCheckSchema,
  type CheckedParams,
  comparisonSchema,
  type DaemonMethod,
  type DaemonResult,
  doctorSchema,
} from '../../protocol/daemon.ts';
import { policySection } from '../../protocol/ids.ts';
import { isDamaged, type Recording } from '../../recordings/index.ts';
import { commandDocument } from './command-line.ts';
import type { Connection } from './connection.ts';
import type { Daemon } from './daemon.ts';
import { findBlob, findCall, findEpisode } from './record-lookup.ts';
import * as pages from './record-pages.ts';
import { RpcError } from './rpc-error.ts';
import { checkpointIn, episodeOrder, evaluateOrder, trainOrder, validated } from './run-orders.ts';
import { resumeOrder } from './trainer.ts';

interface Asked {
  connection: Connection;
  signal: AbortSignal;
}

export type Methods = {
  [M in DaemonMethod]: (params: CheckedParams<M>, asked: Asked) => DaemonResult<M> | Promise<DaemonResult<M>>;
};

export function daemonMethodsOf(daemon: Daemon): Methods {
  const { workspace, shelf, summaries, trainer, planners } = daemon;
  const newRun = (name: string) => workspace.newRun(name, (directory) => trainer.started.has(directory));
  /** Works on the recording of a run. */
  const reading = <T>(run: string, work: (recording: Recording) => Promise<T>) =>
    shelf.use(workspace.run(run), (open) => work(open.recording));
  const document = (words: string[], signal: AbortSignal) => commandDocument(workspace.folder, words, signal);

  return {
    'daemon.hello': (params, { connection }) => daemon.hello(connection, params),
    'daemon.status': () => daemon.status(),
    'daemon.shutdown': ({ mode }) => daemon.askedToLeave(mode),

    'config.validate': ({ files, runAdapter }, { signal }) => validated(workspace, files, runAdapter, signal),
    'doctor.run': async (_, { signal }) => doctorSchema.parse(await document(['doctor', '--json'], signal)),
    'adapter.check': async ({ adapter, outputs }, { signal }) => {
      const isFile = /[\\/]|\.[cm]?[jt]s$/.test(adapter);
      const named = isFile ? workspace.existing(adapter, 'adapter') : adapter;
      const folders = outputs.map((output) => workspace.path(output));
      return adapterCheckSchema.parse(await document(['check-adapter', '--json', '--', named, ...folders], signal));
    },

    'runs.list': () => summaries.list(trainer.started),
    'runs.start': async (params, { signal }) =>
      summaries.summary(await trainer.begin(() => trainOrder(workspace, params, newRun, signal))),
    'runs.resume': async ({ run, stages, rounds }) => {
      const directory = workspace.run(run);
      return summaries.summary(await trainer.begin(async () => resumeOrder(directory, { stages, rounds })));
    },
    'runs.stop': async ({ run, mode }) => {
      const directory = workspace.run(run);
      await trainer.stop(directory, mode);
      return summaries.summary(directory);
    },
    'runs.snapshot': ({ run }) => shelf.snapshot(workspace.run(run)),
    'runs.subscribe': ({ run, fromSeq }, { connection }) => daemon.subscribe(connection, workspace.run(run), fromSeq),
    'runs.unsubscribe': ({ run }, { connection }) => ({
      accepted: daemon.unsubscribe(connection, workspace.path(workspace.run(run))),
    }),
    'runs.journal': ({ run, fromSeq, limit }) =>
      shelf.use(workspace.run(run), async (open) => {
        await open.catchUp();
        if (open.damage !== undefined && open.position <= fromSeq) throw new RpcError('damaged', open.damage);
        return { seq: open.position, lines: await open.lines(fromSeq, limit) };
      }),
    'runs.report': async ({ run }, { signal }) =>
      (await document(['report', '--json', '--', workspace.run(run)], signal)) as DaemonResult<'runs.report'>,

    'groups.list': ({ run, section, offset, limit, filter }) =>
      reading(run, async (recording) => {
        const groups = await pages.groupsOf(recording, section);
        const wanted = filter === undefined ? groups : groups.filter(pages.groupWanted(filter));
        return pages.fitting(wanted.length, wanted.slice(offset, offset + limit));
      }),
    'episodes.list': ({ run, section, filter, newestFirst, ...paging }) =>
      reading(run, async (recording) => {
        const index = await recording.episodes(section);
        return filter === undefined
          ? pages.pageOf(index, paging, newestFirst)
          : pages.wantedOf(index, paging, pages.episodeWanted(filter), newestFirst, pages.damagedWanted(filter));
      }),
    'episodes.get': ({ run, episode }) => reading(run, (recording) => findEpisode(recording, episode)),
    'episodes.run': async (params, { signal }) =>
      summaries.summary(await trainer.begin(() => episodeOrder(workspace, params, newRun, signal))),
    'calls.list': ({ run, section, episode, offset, limit }) =>
      reading(run, async (recording) => {
        const calls = await pages.callsOf(recording, section, episode);
        return pages.fitting(calls.length, calls.slice(offset, offset + limit));
      }),
    'calls.get': ({ run, call, section }) => reading(run, (recording) => findCall(recording, call, section)),
    'blobs.get': ({ run, sha256 }) => reading(run, (recording) => findBlob(recording, sha256)),
    'samples.get': ({ run, round, status, episode, leastAdvantage, ...paging }) =>
      shelf.use(workspace.run(run), async (open) => {
        await open.catchUp();
        const counts = open.state.rounds.find((one) => one.round === round)?.samplesByStatus ?? {};
        const index = await open.recording.samples(round);
        if (status === undefined && episode === undefined && leastAdvantage === undefined)
          return { ...(await pages.pageOf(index, paging)), counts };
        const page = await pages.wantedOf(
          index,
          paging,
          (sample) =>
            sample.status.startsWith(status ?? '') &&
            (episode === undefined || sample.episode === episode) &&
            (leastAdvantage === undefined || Math.abs(sample.advantage ?? 0) >= leastAdvantage),
        );
        return { ...page, counts };
      }),
    'steps.list': ({ run, section, ...paging }) =>
      reading(run, async (recording) => pages.pageOf(await recording.steps(section), paging)),

    'policies.list': ({ run }) => {
      const directory = workspace.run(run);
      return shelf.use(directory, async (open) => {
        await open.catchUp();
        return open.state.policies.map((policy) => {
          const folder = join(directory, policySection(policy.version));
          const active = planners.list().some((served) => served.active && served.checkpoint === folder);
          return { policy, directory: folder, present: hasWeights(folder), active };
        });
      });
    },
    'policies.activate': ({ run, policyVersion }) => {
      const folder = join(workspace.run(run), policySection(policyVersion));
      return planners.activate(checkpointIn(workspace, folder));
    },
    'serving.start': ({ checkpoint, deterministic }) =>
      planners.start(checkpointIn(workspace, checkpoint), deterministic),
    'serving.stop': async ({ checkpoint }) => ({ accepted: await planners.stop(workspace.path(checkpoint)) }),
    'serving.list': () => planners.list(),

    'evaluations.list': ({ run }) =>
      reading(run, async (recording) => {
        const found: DaemonResult<'evaluations.list'> = [];
        for (const section of (await recording.sections()).evaluations) {
          const summary = await recording.evaluation(section.slice('evaluations/'.length));
          if (summary && isDamaged(summary)) found.push({ ...summary, damaged: `${section}: ${summary.damaged}` });
          else if (summary) found.push(summary);
        }
        return found;
      }),
    'evaluations.start': async (params, { signal }) => {
      if ('config' in params)
        return summaries.summary(await trainer.begin(() => evaluateOrder(workspace, params, newRun, signal)));
      const directory = workspace.run(params.run);
      const { policies } = params;
      return summaries.summary(
        await trainer.begin(async () => resumeOrder(directory, { stages: ['evaluate'], policies })),
      );
    },
    'evaluations.compare': async ({ a, b, evaluationA, evaluationB }, { signal }) => {
      const options = [
        ...(evaluationA === undefined ? [] : [`--a=${evaluationA}`]),
        ...(evaluationB === undefined ? [] : [`--b=${evaluationB}`]),
      ];
      const words = ['compare', '--json', ...options, '--', workspace.run(a), workspace.run(b)];
      return comparisonSchema.parse(await document(words, signal));
    },
  };
}

function hasWeights(folder: string): boolean {
  return ['model.safetensors', 'model.safetensors.index.json'].some((name) => existsSync(join(folder, name)));
}
