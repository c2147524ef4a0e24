import { expect, it } from 'vitest';
import { startFailure } from '../../../extension/language/start-failure.ts';

it('why a language server did not start is told, whatever its client fails with', () => {
  // The client fails with a text, not with an error, where a program cannot be run.
  const failed = (code: string) =>
    `Launching server using command /no/such/node failed. Error: spawn /no/such/node ${code}`;
  expect(startFailure(failed('ENOENT'))).toBe('there is no program /no/such/node');
  expect(startFailure(failed('EACCES'))).toBe('the program /no/such/node may not be run');
  expect(startFailure(failed('ENOMEM'))).toBe(failed('ENOMEM'));
  expect(startFailure(new Error('Pending response rejected since connection got disposed'))).toBe(
    'its program ended before it answered',
  );
  expect(startFailure(new Error('a reason'))).toBe('a reason');
  expect(startFailure({ code: 3 })).toBe('{"code":3}');
  for (const nothing of [undefined, '', new Error('')]) expect(startFailure(nothing)).toBe('no reason was given');
});
