import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openLog } from '../../../../trainer-daemon/api/log.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'arrl log-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

it('turns over, keeps three older files, and loses none of the newest lines', () => {
  const place = folder();
  const log = openLog(join(place, 'daemon.log'), 1000);
  for (let i = 0; i < 100; i++) log.write(`line ${i} ${'x'.repeat(50)}`);
  const names = ['daemon.3.log', 'daemon.2.log', 'daemon.1.log', 'daemon.log'];
  expect(readdirSync(place).sort()).toEqual([...names].sort());
  for (const name of names) expect(statSync(join(place, name)).size).toBeLessThanOrEqual(1000);
  const kept = names.flatMap((name) => readFileSync(join(place, name), 'utf8').split('\n').slice(0, -1));
  const numbers = kept.map((line) => Number(/line (\d+)/.exec(line)?.[1]));
  expect(numbers.at(-1)).toBe(99);
  expect(numbers).toEqual(numbers.map((_, i) => numbers[0] + i));
});

it('goes on with the file that is there, for its owner alone, one line an entry and without secrets', () => {
  const path = join(folder(), 'daemon.log');
  openLog(path).write('before');
  const log = openLog(path);
  log.keepSecret('s3cret');
  log.write('Error: it said s3cret\n    at one\n    at two');
  log.write('y'.repeat(100_000));
  const lines = readFileSync(path, 'utf8').split('\n');
  expect(lines).toHaveLength(4);
  expect(lines[1]).toMatch(/^\S+Z Error: it said \[secret\] \| at one \| at two$/);
  expect(lines[2].length).toBeLessThan(10_000);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('a disk that takes nothing is no error', () => {
  expect(() => openLog('/proc/nowhere/daemon.log').write('lost')).not.toThrow();
});
