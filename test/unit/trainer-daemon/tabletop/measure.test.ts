/**
 * How often the expert solves each suite, with true positions, with perceived ones and retries, and with perceived ones
 * and a single attempt a step. Runs only when asked for: TABLETOP_MEASURE=<initial states a task>
 * [TABLETOP_SUITES=<pattern>] npx vitest run test/unit/trainer-daemon/tabletop/measure.test.ts
 */
import { expect, it } from 'vitest';
import { suiteNames, tasks } from '../../../../trainer-daemon/tabletop/index.ts';
import { play } from './expert.ts';

const states = Number(process.env.TABLETOP_MEASURE ?? 0);
const pattern = new RegExp(process.env.TABLETOP_SUITES ?? '.');

const MODES = [
  { name: 'true positions', exact: true, retries: 3 },
  { name: 'perceived, 3 retries', exact: false, retries: 3 },
  { name: 'perceived, no retry', exact: false, retries: 0 },
];

it.skipIf(states === 0)(
  'success by suite',
  async () => {
    const totals = MODES.map(() => 0);
    let episodes = 0;
    for (const suite of suiteNames().filter((s) => pattern.test(s))) {
      const cells: string[] = [];
      for (const [m, { name, exact, retries }] of MODES.entries()) {
        let solved = 0;
        let cpu = 0;
        for (const { index } of tasks(suite)) {
          for (let k = 0; k < states; k++) {
            const init = (index + 7 * k) % 50;
            const start = { suite, task: index, init, noiseSeed: `measure ${suite} ${index} ${k}` };
            const outcome = await play(start, exact, retries);
            solved += Number(outcome.success);
            cpu += outcome.cpuMs;
          }
        }
        totals[m] += solved;
        const n = 10 * states;
        cells.push(`${name} ${((100 * solved) / n).toFixed(0)} % (${(cpu / n).toFixed(0)} ms)`);
      }
      episodes += 10 * states;
      console.log(`${suite}: ${cells.join(', ')}`);
    }
    console.log(
      `all: ${MODES.map(({ name }, m) => `${name} ${((100 * totals[m]) / episodes).toFixed(1)} %`).join(', ')}`,
    );
    expect(totals[0]).toBeGreaterThan(totals[2]);
  },
  3_600_000,
);
