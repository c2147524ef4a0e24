/** `validate FILE...`: the findings an editor would underline, as lines or as one JSON document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command, Option } from 'commander';
import { findingPage } from '../../language-server/service/contract.ts';
import { packageRoot } from '../../trainer-daemon/bundles.ts';
import { type Examined, examine } from '../examined-file.ts';
import { EXIT } from '../exit.ts';
import { countFindings, findingLine, hasErrors } from '../output/findings.ts';
import { plural } from '../output/format.ts';
import { jsonText } from '../output/safe-text.ts';
import { type FindingPage, sarifLog } from '../output/sarif.ts';
import type { Terminal } from '../output/terminal.ts';

interface ValidateArguments {
  json?: boolean;
  format: 'text' | 'json' | 'sarif';
  strict?: boolean;
  adapter: boolean;
}

export function validateCommand(terminal: Terminal, version: string): Command {
  return new Command('validate')
    .description('check training configs (*.training.yaml or .json) and adapters (*.adapter.ts)')
    .argument('<file...>', 'configs or adapters')
    .addOption(
      new Option('--format <kind>', 'how findings are printed').choices(['text', 'json', 'sarif']).default('text'),
    )
    .option('--json', 'print one JSON document: --format json')
    .option('--strict', 'let warnings fail as errors do')
    .option('--no-adapter', 'run no adapter: suites, tasks and states are then not checked against its lists')
    .addHelpText('after', '\nExit code 1 when there are errors, 2 when a file cannot be read.')
    .action(async (files: string[], options: ValidateArguments) => {
      const checked: Examined[] = [];
      for (const file of files) checked.push(await examine(file, options.adapter));
      const findings = checked.flatMap((file) => file.findings);
      const failed =
        hasErrors(findings) || (options.strict === true && findings.some((finding) => finding.severity === 'warning'));
      terminal.exitCode = checked.some((file) => !file.readable) ? EXIT.usage : failed ? EXIT.failed : EXIT.done;
      if (options.format === 'sarif') {
        terminal.out(jsonText(sarifLog(findings, version, process.cwd(), pageOf), 2));
        return;
      }
      if (options.json || options.format === 'json') {
        const documents = checked.map((file) => ({
          file: file.file,
          ok: !hasErrors(file.findings),
          findings: file.findings,
        }));
        terminal.out(jsonText({ ok: !failed, files: documents }, 2));
        return;
      }
      for (const finding of findings) terminal.out(findingLine(finding, terminal.paint));
      const summary = `${plural(files.length, 'file')} checked: ${countFindings(findings)}`;
      terminal.out(failed ? terminal.paint.red(summary) : terminal.paint.green(summary));
    });
}

/** The page of a code in the package this command is part of. */
function pageOf(code: string): FindingPage | undefined {
  const file = join(packageRoot(), findingPage(code));
  try {
    return { text: readFileSync(file, 'utf8'), href: pathToFileURL(file).href };
  } catch {
    return undefined; // A package without its docs still prints its findings.
  }
}
