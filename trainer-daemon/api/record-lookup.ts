/** Single records by their ids, wherever in the run they are. */
import { existsSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import type { z } from 'zod';
import type { callDetailsSchema, episodeDetailsSchema } from '../../protocol/daemon.ts';
import { isDamaged, type RecordIndex, type Recording } from '../../recordings/index.ts';
import { roundOf } from './record-pages.ts';
import { RpcError } from './rpc-error.ts';

/** @throws RpcError `notFound`, or `damaged` when its line cannot be read. */
export async function findEpisode(recording: Recording, id: string): Promise<z.output<typeof episodeDetailsSchema>> {
  const { section, record } = await find('episode', id, await sectionsFor(recording, id), (name) =>
    recording.episodes(name),
  );
  const output = record.outputDir === null ? undefined : resolve(recording.directory, record.outputDir);
  const inside = output?.startsWith(recording.directory + sep) && existsSync(output);
  return { section, episode: record, outputDirectory: inside ? (output ?? null) : null };
}

/** @throws RpcError `notFound`, or `damaged` when the call, or a message of it, cannot be read. */
export async function findCall(
  recording: Recording,
  id: string,
  section?: string,
): Promise<z.output<typeof callDetailsSchema>> {
  const sections = section === undefined ? await sectionsFor(recording, id) : [section];
  const found = await find('call', id, sections, (name) => recording.calls(name));
  const call = await recording.resolveCall(found.record);
  if (isDamaged(call)) throw new RpcError('damaged', `call ${id}: ${call.damaged}`);
  const round = roundOf(found.section);
  if (round === undefined) return { section: found.section, call, sample: null, scores: [] };
  const samples = await recording.samples(round);
  const scores = await recording.scores(round);
  await samples.refresh();
  await scores.refresh();
  const sample = await samples.byId(id);
  return {
    section: found.section,
    call,
    sample: sample && !isDamaged(sample) ? sample : null,
    scores: (await scores.allById(id)).flatMap((score) => (isDamaged(score) ? [] : [score])),
  };
}

/** @throws RpcError `notFound`, or `damaged`. */
export async function findBlob(recording: Recording, hash: string): Promise<{ mediaType: string; base64: string }> {
  const blob = await recording.blob(hash);
  if (blob === undefined) throw new RpcError('notFound', `the run has no image ${hash}`);
  if (isDamaged(blob)) throw new RpcError('damaged', `image ${hash}: ${blob.damaged}`);
  return { mediaType: blob.mediaType, base64: blob.bytes.toString('base64') };
}

async function find<T extends object>(
  what: string,
  id: string,
  sections: string[],
  open: (section: string) => Promise<RecordIndex<T>>,
): Promise<{ section: string; record: T }> {
  for (const section of sections) {
    const index = await open(section);
    await index.refresh();
    const record = await index.byId(id);
    if (record === undefined) continue;
    if (isDamaged(record))
      throw new RpcError('damaged', `${join(section, what)} ${id}, line ${record.line}: ${record.damaged}`);
    return { section, record };
  }
  throw new RpcError('notFound', `there is no ${what} ${id} in ${sections.join(', ') || 'this run'}`);
}

/** The sections that may hold an id, by its form (`RUN.r3.TASK...`: round 3); all where the form says nothing. */
async function sectionsFor(recording: Recording, id: string): Promise<string[]> {
  const { teacher, rounds, evaluations } = await recording.sections();
  const form = /^[0-9a-f]{8}\.([trve])(\d+)/.exec(id);
  if (!form) return [...teacher, ...rounds, ...evaluations];
  const [, role, number] = form;
  if (role === 't') return teacher;
  if (role === 'r') return rounds.filter((name) => roundOf(name) === Number(number));
  const kind = role === 'v' ? 'evaluations/validation-' : 'evaluations/evaluation-';
  return evaluations.filter((name) => name.startsWith(kind));
}
