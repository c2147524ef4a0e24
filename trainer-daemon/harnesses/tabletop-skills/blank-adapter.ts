/** A control: the skills harness whose tools answer nothing. What a planner still solves, it solves without looking. */
import { defineAdapter } from '../../../protocol/adapter.ts';
import adapter from './adapter.ts';

export default defineAdapter({
  ...adapter,
  name: 'tabletop-skills-blank',

  async launch(episode, context) {
    const launch = await adapter.launch(episode, context);
    return 'worker' in launch ? { ...launch, episode: { ...launch.episode, observations: 'blank' } } : launch;
  },
});
