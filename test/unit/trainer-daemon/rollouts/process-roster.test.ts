import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { LoadedAdapter } from '../../../../trainer-daemon/rollouts/contract.ts';
import { HarnessProcess } from '../../../../trainer-daemon/rollouts/harness-process.ts';
import { ProcessRoster } from '../../../../trainer-daemon/rollouts/process-roster.ts';
import { startScriptedTeacher } from '../../../../trainer-daemon/rollouts/scripted-teacher.ts';
import { processIdentity } from '../../../../trainer-daemon/store/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'roster ü-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(process.platform !== 'linux')('the roster of harness processes', () => {
  it('ends those that are still there, and nobody who has their number by now', async () => {
    const file = join(folder, 'roster');
    const start = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true });
    const orphan = start();
    // What tells processes apart is the time of their start, in ticks of the kernel's clock.
    await new Promise((resume) => setTimeout(resume, 100));
    const other = start();
    const roster = new ProcessRoster(file);
    roster.add(orphan.pid as number);
    const [noted] = readFileSync(file, 'utf8').split('\n');
    const later = { ...(JSON.parse(noted) as object), pid: other.pid };
    // A process with a number of the roster that started at another time, our own, "all", and a torn line.
    const damaged = [later, { pid: process.pid, identity: 'x' }, { pid: -1, identity: 'x' }, { pid: 1 }];
    writeFileSync(file, `${noted}\n${damaged.map((entry) => JSON.stringify(entry)).join('\n')}\n{"pid":1`);
    const gone = new Promise((resolve) => orphan.on('exit', (_code, signal) => resolve(signal)));
    expect(await new ProcessRoster(file).endOrphans()).toBe(1);
    expect(await gone).toBe('SIGKILL');
    expect(other.exitCode ?? other.signalCode).toBeNull();
    other.kill('SIGKILL');
    expect(existsSync(file)).toBe(false);
    expect(await new ProcessRoster(file).endOrphans()).toBe(0);
  });

  it('ends what left the group of its harness', async () => {
    const file = join(folder, 'detached');
    const program =
      "const c = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' }); c.unref(); console.log(c.pid)";
    const spec = { command: process.execPath, args: ['-e', program] };
    const harness = new HarnessProcess(spec, folder, [], new ProcessRoster(file));
    await harness.ended;
    const pid = Number(harness.stdout.toString());
    expect(processIdentity(pid)).toBeDefined();
    expect(await new ProcessRoster(join(folder, 'of another run')).endOrphans()).toBe(0);
    expect(processIdentity(pid)).toBeDefined();
    expect(await new ProcessRoster(file).endOrphans()).toBe(1);
    expect(processIdentity(pid)).toBeUndefined();
  });

  it('ends a scripted teacher that does not watch its input', async () => {
    const file = join(folder, 'teacher');
    const program =
      "setInterval(() => {}, 1000); console.log(JSON.stringify({ url: 'http://127.0.0.1:9/v1', model: 'm' }))";
    const adapter = {
      file: 'a.adapter.ts',
      workspace: folder,
      withheld: [],
      scriptedTeacher: async () => ({ command: process.execPath, args: ['-e', program] }),
    } as unknown as LoadedAdapter;
    const teacher = await startScriptedTeacher(adapter, new ProcessRoster(file));
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
    // What the next life of a killed run does.
    expect(await new ProcessRoster(file).endOrphans()).toBe(1);
    expect(processIdentity(pid)).toBeUndefined();
    await teacher.close();
  });

  it('notes nothing of a process that is gone', () => {
    const file = join(folder, 'empty');
    new ProcessRoster(file).add(2 ** 22 + 1);
    expect(existsSync(file)).toBe(false);
  });
});
