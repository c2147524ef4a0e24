/** What the extension costs a window: nothing where there are no files of ours, and little where there are. */
import { describe, expect, it } from 'vitest';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

describe.skipIf(vscode === null)('activation', () => {
  it('waits for a file of ours', async () => {
    const { window } = await session({
      'compose.yaml': 'services: {}\n',
      'redis.adapter.ts': 'export class RedisAdapter {}\n',
      'other/mine.training.txt': 'version: 1\n',
    });
    await window.openFile('compose.yaml');
    await window.openFile('redis.adapter.ts');
    await window.palette('Developer: Show Running Extensions');
    const running = window.page.locator('.runtime-extensions-editor .monaco-list-row');
    await running
      .filter({ hasText: /Activation: \d+/ })
      .first()
      .waitFor();
    expect(await running.filter({ hasText: 'AgenticRoboRL' }).count()).toBe(0);
    expect(await window.statusItem('AgenticRoboRL').count()).toBe(0);

    await window.page.keyboard.press('Escape');

    // Its first command brings it to life, and leads to what it needs.
    await window.palette('AgenticRoboRL: Start Training');
    const told = window.notification('there is no training config');
    await told.getByRole('button', { name: 'New Training Config' }).click();
    await window.choice('Embedded world').click();
    await window.input.fill('table');
    await window.page.keyboard.press('Enter');
    await window.statusItem('AgenticRoboRL Training Config').waitFor();
    await window.palette('Developer: Show Running Extensions');
    await running
      .filter({ hasText: /AgenticRoboRL.*Activation: \d+/s })
      .first()
      .waitFor();
    await window.screenshot('activation');
  });
});
