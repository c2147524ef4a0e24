/** Which functions from outside ask the clock or chance. */

const CLOCK =
  /^(global\.Date\.now|global\.Date|global\.performance\.now|global\.process\.(hrtime|uptime)|perf_hooks\.performance\.now|process\.hrtime)/;
const CHANCE = /^(global\.Math\.random|global\.crypto\.(randomUUID|getRandomValues)|crypto\.(random|webcrypto))/;

/** Whether calling something outside asks the clock. */
export function isClock(external: string): boolean {
  return CLOCK.test(external) && external !== 'global.Date.parse' && external !== 'global.Date.UTC';
}

/** Whether calling something outside asks chance. */
export function isChance(external: string): boolean {
  return CHANCE.test(external);
}
