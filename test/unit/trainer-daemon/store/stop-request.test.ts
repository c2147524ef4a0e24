import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  clearStopRequest,
  isSooner,
  readStopRequest,
  requestStop,
} from '../../../../trainer-daemon/store/stop-request.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'arrl stop ü-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('orders wishes from the latest end to the soonest', () => {
  expect([isSooner('now', 'episode'), isSooner('episode', 'round'), isSooner('round', 'none')]).toEqual([
    true,
    true,
    true,
  ]);
  expect([isSooner('none', 'round'), isSooner('now', 'now'), isSooner('round', 'episode')]).toEqual([
    false,
    false,
    false,
  ]);
});

it('is left, hastened and taken away, and leaves nothing beside itself', async () => {
  expect(await readStopRequest(folder)).toBeUndefined();
  await requestStop(folder, 'episode');
  await requestStop(folder, 'round');
  expect(await readStopRequest(folder)).toMatchObject({ mode: 'episode' });
  await requestStop(folder, 'now');
  expect(await readStopRequest(folder)).toMatchObject({ mode: 'now' });
  expect(readdirSync(folder)).toEqual(['run.stop']);
  await clearStopRequest(folder);
  await clearStopRequest(folder);
  expect(readdirSync(folder)).toEqual([]);
});

it('heeds nothing that is no wish', async () => {
  for (const text of ['', '{', '{"mode":"soon","at":"2026-01-01T00:00:00.000Z"}', `"${'x'.repeat(5000)}"`]) {
    writeFileSync(join(folder, 'run.stop'), text);
    expect(await readStopRequest(folder)).toBeUndefined();
  }
  rmSync(join(folder, 'run.stop'));
  const outside = join(folder, 'outside');
  writeFileSync(outside, JSON.stringify({ mode: 'now', at: new Date().toISOString() }));
  symlinkSync(outside, join(folder, 'run.stop'));
  expect(await readStopRequest(folder)).toBeUndefined();
  rmSync(join(folder, 'run.stop'));
  mkdirSync(join(folder, 'run.stop'));
  expect(await readStopRequest(folder)).toBeUndefined();
});

it('says where it cannot be left', async () => {
  const gone = join(folder, 'gone');
  await expect(requestStop(gone, 'now')).rejects.toThrow(gone);
  expect(existsSync(gone)).toBe(false);
});
