/** docs/config.md, written from the config's schema. */
import { presets } from '../protocol/config.ts';
import { type ConfigKey, configKeys } from '../protocol/config-keys.ts';

const INTRODUCTION = `# The training config

<!-- Written by "npm run docs" from the schema; changes here are lost. -->

A training config is a file \`<name>.training.yaml\` (or \`.training.json\`). Required are \`version\`, \`name\`,
\`harness.adapter\` and \`harness.suites\`; everything else has a default. Unknown keys are errors. Relative paths start
from the config's folder. \`agentic-robo-rl validate FILE\` checks a config and names line and column of every mistake;
the editor underlines the same ones while you type.

The smallest config:

\`\`\`yaml
version: 1
name: first-try
harness:
  adapter: tabletop-skills
  suites: [tabletop_goal_swap]
\`\`\`

**Sets of states** are written \`5\`, \`11-44\`, \`[0, 3, 11-44]\` or \`"0, 3, 11-44"\`.
**Sources**: "paper" is AgenticRoboRL (arXiv 2610.28589) with its section, equation or appendix; "ours" is a choice the
paper does not make.
`;

/** The whole page. */
export function configReference(): string {
  const keys = configKeys();
  const parts = [INTRODUCTION, '## Top level\n', keyTable(keys.filter((key) => !key.path.includes('.')))];
  for (const section of keys.filter(
    (key) => key.section || keys.some((other) => other.path.startsWith(`${key.path}.`)),
  )) {
    const inner = keys.filter(
      (key) => key.path.startsWith(`${section.path}.`) && !key.path.slice(section.path.length + 1).includes('.'),
    );
    parts.push(`\n## ${section.path}\n`, `${section.meaning}\n`, keyTable(inner));
  }
  parts.push('\n## Presets\n', 'A preset sets these keys beneath what the file says.\n');
  for (const [name, values] of Object.entries(presets)) {
    parts.push(
      `\n\`preset: ${name}\`\n`,
      '| Key | Value |\n|---|---|',
      ...flatten(values).map(([path, value]) => `| \`${path}\` | \`${value}\` |`),
    );
  }
  return `${parts.join('\n')}\n`;
}

function keyTable(keys: ConfigKey[]): string {
  const rows = keys.map((key) => {
    const name = key.path.split('.').at(-1);
    const takes = key.section
      ? `[section](#${anchor(key.path)})`
      : cell(key.takes) + (key.unit ? ` (${key.unit})` : '');
    const standard = key.required
      ? '**required**'
      : key.defaultText === undefined
        ? ''
        : `\`${cell(key.defaultText)}\``;
    return `| \`${name}\` | ${takes} | ${standard} | ${cell(key.meaning)} | ${cell(key.source ?? '')} |`;
  });
  return ['| Key | Takes | Default | Meaning | Source of the default |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** The anchor Markdown viewers give the heading `## a.b`. */
function anchor(path: string): string {
  return path.toLowerCase().replaceAll('.', '');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function flatten(values: Record<string, unknown>, prefix = ''): [string, string][] {
  return Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? flatten(value as Record<string, unknown>, `${prefix}${name}.`)
      : [[prefix + name, JSON.stringify(value)] as [string, string]],
  );
}
