/** The processes launch returns, one a case: command, arguments in order, environment, and a worker's episode. */
import type { Analysis } from './analysis.ts';
import { type Argument, argumentsOf } from './arguments.ts';
import type { ObjectShape, Property } from './values.ts';

export interface Process {
  fields: ObjectShape['properties'];
  command: Property | undefined;
  /** The command's text; `*` for what is not constant in it. */
  program: string;
  args: Property | undefined;
  /** Undefined stands where some may be that cannot be told. */
  items: readonly (Argument | undefined)[];
  /** Variables of its environment, and the fields of a worker's episode. */
  env: ObjectShape | undefined;
  episode: ObjectShape | undefined;
}

const known = new WeakMap<Analysis, Process[]>();

/** Worked out once for all rules. */
export function processesOf(analysis: Analysis): Process[] {
  let processes = known.get(analysis);
  if (!processes) {
    processes = (analysis.launch?.cases ?? []).flatMap(({ value }) => {
      const object = value.object?.properties.get('worker')?.value().object ?? value.object;
      if (!object) return [];
      const fields = object.properties;
      const command = fields.get('command');
      const args = fields.get('args');
      const written = command?.value();
      return [
        {
          fields,
          command,
          program: written?.literal !== undefined ? String(written.literal) : (written?.file ?? ''),
          args,
          items: argumentsOf(analysis.evaluator, args),
          env: fields.get('env')?.value().object,
          episode: value.object?.properties.get('episode')?.value().object,
        },
      ];
    });
    known.set(analysis, processes);
  }
  return processes;
}
