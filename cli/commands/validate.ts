/** `validate FILE...`: the findings an editor would underline, as lines or as one JSON document. */
import { Command } from 'commander';
import { readConfigFile } from '../config-file.ts';
import { EXIT } from '../exit.ts';
import { countFindings, findingLine, hasErrors } from '../output/findings.ts';
import { plural } from '../output/format.ts';
import type { Terminal } from '../output/terminal.ts';

export function validateCommand(terminal: Terminal): Command {
  return new Command('validate')
    .description('check training configs (*.training.yaml or .json)')
    .argument('<file...>', 'config files')
    .option('--json', 'print one JSON document')
    .option('--strict', 'let warnings fail as errors do')
    .addHelpText('after', '\nExit code 1 when there are errors, 2 when a file cannot be read.')
    .action((files: string[], options: { json?: boolean; strict?: boolean }) => {
      const checked = files.map(readConfigFile);
      const findings = checked.flatMap((file) => file.findings);
      const failed =
        hasErrors(findings) || (options.strict === true && findings.some((finding) => finding.severity === 'warning'));
      terminal.exitCode = checked.some((file) => !file.readable) ? EXIT.usage : failed ? EXIT.failed : EXIT.done;
      if (options.json) {
        const documents = checked.map((file) => ({
          file: file.file,
          ok: file.config !== undefined,
          findings: file.findings,
        }));
        terminal.out(JSON.stringify({ ok: !failed, files: documents }, null, 2));
        return;
      }
      for (const finding of findings) terminal.out(findingLine(finding, terminal.paint));
      const summary = `${plural(files.length, 'file')} checked: ${countFindings(findings)}`;
      terminal.out(failed ? terminal.paint.red(summary) : terminal.paint.green(summary));
    });
}
