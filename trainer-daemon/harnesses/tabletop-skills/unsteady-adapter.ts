/**
 * A harder world: the skills harness whose arm now and then puts down beside where it was to, and does not notice. Looking at
 * what it holds before it puts down makes that rarer.
 */
import { defineAdapter } from '../../../protocol/adapter.ts';
import adapter from './adapter.ts';

export default defineAdapter({
  ...adapter,
  name: 'tabletop-skills-unsteady',

  async launch(episode, context) {
    const launch = await adapter.launch(episode, context);
    return 'worker' in launch ? { ...launch, episode: { ...launch.episode, hand: 'unsteady' } } : launch;
  },
});
