/** Weights for tests of serving: small, and far enough from uniform that errors show. */
import { Random } from '../../../../../protocol/random.ts';
import {
  type Architecture,
  type PlannerWeights,
  parameterCount,
  tensorSpecs,
} from '../../../../../trainer-daemon/planner/architecture.ts';

export const smallArchitecture: Architecture = {
  layers: 2,
  hidden: 48,
  intermediate: 80,
  heads: 4,
  kvHeads: 2,
  headDim: 16,
  vocabulary: 60,
  context: 400,
  ropeTheta: 10_000,
  rmsEpsilon: 1e-6,
  tiedEmbeddings: true,
};

export function someWeights(architecture: Architecture, name = 'weights', scale = 0.15): PlannerWeights {
  const flat = new Float32Array(parameterCount(architecture));
  const random = new Random('serving test', name);
  for (const spec of tensorSpecs(architecture)) {
    const isNorm = spec.name.endsWith('norm.weight');
    for (let i = spec.offset; i < spec.offset + spec.size; i++) {
      flat[i] = isNorm ? 1 + 0.2 * random.normal() : scale * random.normal();
    }
  }
  return { architecture, flat };
}

export function someIds(count: number, vocabulary = smallArchitecture.vocabulary, name = 'ids'): number[] {
  const random = new Random('serving test ids', name);
  return Array.from({ length: count }, () => random.int(vocabulary));
}
