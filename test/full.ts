/**
 * Whether everything is tested, as by `npm run test:full`: also what takes long and is told in the main by other tests.
 */
export const FULL = process.env.AGENTIC_ROBO_RL_FULL === '1';
