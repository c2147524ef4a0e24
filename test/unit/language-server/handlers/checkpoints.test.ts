/** Looks into real checkpoints, by the built program. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CheckpointLooks } from '../../../../language-server/handlers/checkpoints.ts';
import { bundlePath, packageRoot } from '../../../../trainer-daemon/bundles.ts';

const fixture = (name: string) => join(packageRoot(), 'test/fixtures/configs/beside', name);
let base: string;
let planner: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'arrl looks ü-'));
  planner = join(base, 'planner');
  cpSync(fixture('planner-endless'), planner, { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

it('a folder that changes during a look is looked at again', async () => {
  let ended = 0;
  const failed: string[] = [];
  let resume: () => void = () => {};
  const looks = new CheckpointLooks(
    bundlePath('checkpoint-inspection'),
    () => {
      ended++;
      resume();
    },
    (reason) => failed.push(reason),
  );
  const next = () =>
    new Promise<void>((resolve) => {
      resume = resolve;
    });

  expect(looks.of(planner, base)).toBeUndefined();
  await next();
  expect(looks.of(planner, base)?.map(({ file, severity }) => [file, severity])).toEqual([
    [join('planner', 'config.json'), 'error'],
  ]);
  cpSync(fixture('planner-other-weights'), planner, { recursive: true });
  expect(looks.of(planner, base)).toBeUndefined();
  // The second look is not the last word: the files change under it.
  cpSync(fixture('planner'), planner, { recursive: true });
  expect(looks.of(planner, base)).toBeUndefined();
  await next();
  expect(looks.of(planner, base)).toBeUndefined();
  await next();
  expect(looks.of(planner, base)).toEqual([]);
  expect([ended, failed]).toEqual([3, []]);
});

it('a look that gives nothing is told, and not repeated for the same files', async () => {
  let told: (reason: string) => void = () => {};
  const failed = new Promise<string>((resolve) => {
    told = resolve;
  });
  const looks = new CheckpointLooks(join(base, 'nowhere.mjs'), () => expect.unreachable(), told);
  expect(looks.of(planner, base)).toBeUndefined();
  expect(await failed).toContain(`the checkpoint ${planner} could not be looked at`);
  expect(looks.of(planner, base)).toBeUndefined();
});
