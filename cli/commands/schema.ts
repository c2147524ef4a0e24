/** `schema [NAME]`: the JSON Schema of a record or of the config, and the reference page of every config key. */
import { Command } from 'commander';
import { nearest } from '../../protocol/nearest.ts';
import { jsonSchema, namedSchemas, schemaTitles } from '../../protocol/schemas.ts';
import { configReference } from '../config-reference.ts';
import { CommandError } from '../exit.ts';
import { jsonText } from '../output/safe-text.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

export function schemaCommand(terminal: Terminal): Command {
  return new Command('schema')
    .description('print the JSON Schema of a file or record of a run')
    .argument('[name]', 'which one; without it, the list')
    .option('--json', 'print the list as JSON')
    .option('--config-docs', 'print the reference of every config key (docs/config.md)')
    .action((name: string | undefined, options: { json?: boolean; configDocs?: boolean }) => {
      if (options.configDocs) {
        if (name !== undefined) throw new CommandError('schema: give a name or --config-docs, not both');
        terminal.out(configReference().trimEnd());
        return;
      }
      const names = Object.keys(namedSchemas);
      if (name === undefined) {
        if (options.json)
          terminal.out(
            jsonText(
              names.map((one) => ({ name: one, title: schemaTitles[one] })),
              2,
            ),
          );
        else
          terminal.out(
            table(
              terminal,
              [{ title: 'Name' }, { title: 'What it describes', wrap: true }],
              names.map((one) => [one, schemaTitles[one]]),
            ),
          );
        return;
      }
      const schema = jsonSchema(name);
      if (!schema) {
        const near = nearest(name, names);
        throw new CommandError(
          `there is no schema "${name}"${near ? `; did you mean "${near}"?` : `; there are ${names.join(', ')}`}`,
        );
      }
      terminal.out(jsonText(schema, 2));
    });
}
