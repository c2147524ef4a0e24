/** The control of the harder world: its tools answer nothing. */
import { defineAdapter } from '../../../protocol/adapter.ts';
import blank from './blank-adapter.ts';
import unsteady from './unsteady-adapter.ts';

export default defineAdapter({
  ...unsteady,
  name: 'tabletop-skills-unsteady-blank',

  async launch(episode, context) {
    const [shaky, blanked] = [await unsteady.launch(episode, context), await blank.launch(episode, context)];
    if (!('worker' in shaky) || !('worker' in blanked)) return shaky;
    return { ...shaky, episode: { ...blanked.episode, ...shaky.episode } };
  },
});
