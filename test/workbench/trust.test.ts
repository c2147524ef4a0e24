/** A workspace that is not trusted: its texts are checked, and nothing of it is executed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { vscodeFolder } from './bed/server.ts';
import { session } from './bed/session.ts';

/** Leaves a mark wherever it is run. */
const adapter = (mark: string) => `import { writeFileSync } from 'node:fs';
import { defineAdapter } from 'agentic-robo-rl';

writeFileSync(${JSON.stringify(mark)}, 'the adapter was run');
export default defineAdapter({
  name: 'mark',
  launch: () => ({ command: 'true' }),
  outcome: ({ episode: { task, init, attempt } }) => ({ task, init, attempt, reward: 'much', valid: true }),
});
`;
/** A program that leaves a mark, which the workspace would like to be run in place of Node. */
const MARKED = 'marked-by-program';
const program = `#!/bin/sh\ntouch ${MARKED}\n`;

describe.skipIf(vscodeFolder === null)('a workspace that is not trusted', () => {
  it('is checked as text, and none of its programs is run', async () => {
    const { server, window, folder } = await session(
      {
        'mark.adapter.ts': adapter('marked-by-adapter'),
        'mark.training.yaml':
          'version: 1\nname: mark\nharness:\n  adapter: ./mark.adapter.ts\n  suites: [s]\n  tsks: all\n',
        'node.sh': program,
        '.vscode/settings.json': JSON.stringify({ 'agenticRoboRL.node.path': './node.sh' }),
      },
      { settings: { 'security.workspace.trust.enabled': true } },
    );
    await window.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
    await window.openFile('mark.training.yaml');
    await window.showProblems();
    await window.problem('tsks').waitFor();
    await window.openFile('mark.adapter.ts');
    await window.problem('reward').waitFor();
    await window.screenshot('untrusted');
    for (const mark of ['marked-by-adapter', MARKED])
      for (const place of [folder, server.folder, process.cwd()]) expect(existsSync(join(place, mark))).toBe(false);
    expect(existsSync(join(folder, '.agentic-robo-rl'))).toBe(false);
  });
});
