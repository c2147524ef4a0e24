/** Episode records for the tests of this folder. */
import { type EpisodeRecord, episodeSchema } from '../../../../protocol/records.ts';

export function episode(fields: Partial<EpisodeRecord>): EpisodeRecord {
  const { task = 's/0', init = 1, attempt = 0, tryNumber = 0 } = fields;
  return episodeSchema.parse({
    version: 1,
    id: `cafecafe.e1.${task.replace('/', '-')}.i${init}.a${attempt}.${tryNumber}`,
    role: 'evaluation',
    round: 1,
    task,
    init,
    attempt,
    reward: 0,
    valid: true,
    invalidReason: fields.valid === false ? 'simulator crashed' : null,
    successTurn: null,
    policyVersion: 1,
    turns: 3,
    seconds: 1,
    end: 'exit',
    tryNumber,
    outputDir: null,
    trajectory: null,
    startedAt: '2026-01-01T00:00:00.000Z',
    ...fields,
  });
}
