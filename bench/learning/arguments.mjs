// What the learning evidence is asked to do.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const PARTS = ['main', 'controls', 'longer', 'agreement', 'report'];

const USAGE = `npm run learning -- [--runs DIR] [--seeds 0,1,2] [--config FILE] [--only ${PARTS.join('|')}]

Trains the planner of examples/learning.training.yaml once a seed, then the controls, then with a longer fine-tuning, then
compares the gradients of some rounds with one another, then writes bench/results/learning.md. Hours of work; ended at any time, the same command goes on where it was.`;

/** @returns Where runs lie, which seeds, which config, and which parts of the work. */
export function readArguments() {
  const root = resolve(import.meta.dirname, '../..');
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        runs: { type: 'string', default: 'runs/learning' },
        seeds: { type: 'string', default: '0,1,2' },
        config: { type: 'string', default: 'examples/learning.training.yaml' },
        only: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    return refuse(error.message);
  }
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  if (values.only !== undefined && !PARTS.includes(values.only))
    return refuse(`--only ${values.only}: ${PARTS.slice(0, -1).join(', ')} or ${PARTS.at(-1)}`);
  const seeds = values.seeds.split(',').map(Number);
  if (seeds.some((seed) => !Number.isInteger(seed) || seed < 0))
    return refuse(`--seeds ${values.seeds}: whole numbers`);
  return {
    root,
    runs: resolve(root, values.runs),
    config: resolve(root, values.config),
    seeds,
    does: (part) => values.only === undefined || values.only === part,
  };
}

function refuse(message) {
  console.error(`${message}\n\n${USAGE}`);
  process.exit(2);
}
