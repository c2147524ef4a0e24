/** A workspace that is not trusted: its texts are checked, and nothing of it is executed. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { vscode } from './bed/server.ts';
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
const MARKS = ['marked-by-adapter', 'marked-by-program'];

describe.skipIf(vscode === null)('a workspace that is not trusted', () => {
  it('is checked as text, and none of its programs is run', async () => {
    const { server, window, folder, daemon } = await session(
      {
        'mark.adapter.ts': adapter('marked-by-adapter'),
        'mark.training.yaml':
          'version: 1\nname: mark\nharness:\n  adapter: ./mark.adapter.ts\n  suites: [s]\n  tsks: all\n',
      },
      {
        settings: { 'security.workspace.trust.enabled': true },
        prepare(at) {
          // A program of the workspace that would like to be run in place of Node.
          const program = join(at, 'node.sh');
          writeFileSync(program, `#!/bin/sh\ntouch '${join(at, 'marked-by-program')}'\n`, { mode: 0o755 });
          mkdirSync(join(at, '.vscode'));
          writeFileSync(join(at, '.vscode/settings.json'), JSON.stringify({ 'agenticRoboRL.node.path': program }));
        },
      },
    );
    await window.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
    await window.openFile('mark.training.yaml');
    await window.showProblems();
    await window.problem('tsks').waitFor();
    await window.openFile('mark.adapter.ts');
    await window.problem('reward').waitFor();
    await window.palette('AgenticRoboRL: Start Training');
    await window.notification('is not trusted').waitFor();
    await window.screenshot('untrusted');
    await window.notification('is not trusted').getByRole('button', { name: 'Manage Workspace Trust' }).waitFor();
    for (const mark of MARKS)
      for (const place of [folder, server.folder, process.cwd()]) expect(existsSync(join(place, mark))).toBe(false);
    expect(existsSync(join(folder, '.agentic-robo-rl'))).toBe(false);
    expect(existsSync(join(folder, 'runs'))).toBe(false);
    expect(daemon()).toBeUndefined();
  });
});
