/** Plays one fixed episode and tells everything that must be alike wherever it is played. */
import { createHash } from 'node:crypto';
import { TabletopEpisode } from '../../../../trainer-daemon/tabletop/episode.ts';

export async function playFixedEpisode(): Promise<Record<string, string>> {
  const start = { suite: 'tabletop_long', task: 4, init: 12, noiseSeed: 'determinism' };
  const episode = await TabletopEpisode.start(start);
  const hash = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
  const beginning = episode.simulation.stateHash();
  const seen = episode.detect();
  const find = (kind: string, colour: string) =>
    episode.detect().detections.find((d) => d.kind === kind && d.colour === colour)!;
  episode.openDrawer(find('drawer', ''));
  episode.pick(find('cube', 'red'), 'top');
  const middle = episode.simulation.stateHash();
  episode.place({ inside: find('drawer', '') });
  const out = {
    beginning,
    middle,
    end: episode.simulation.stateHash(),
    detections: hash(JSON.stringify(seen)),
    picture: hash(episode.look('side').png),
    trajectory: hash(JSON.stringify(episode.trajectory())),
  };
  episode.dispose();
  return out;
}
