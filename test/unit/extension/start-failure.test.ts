import { expect, it } from 'vitest';
import { startFailure } from '../../../extension/language/start-failure.ts';

it('why a language server did not start is told, whatever its client fails with', () => {
  // The client fails with a text, not with an error, where a program cannot be run.
  const program = '/no/such/node';
  const failed = (code: string) => `Launching server using command ${program} failed. Error: spawn ${program} ${code}`;
  expect(startFailure(failed('ENOENT'))).toEqual({ why: 'no-program', program });
  expect(startFailure(failed('EACCES'))).toEqual({ why: 'not-permitted', program });
  expect(startFailure(failed('ENOMEM'))).toEqual({ why: 'other', words: failed('ENOMEM') });
  const disposed = new Error('Pending response rejected since connection got disposed');
  expect(startFailure(disposed)).toEqual({ why: 'ended' });
  expect(startFailure(new Error('a reason'))).toEqual({ why: 'other', words: 'a reason' });
  expect(startFailure({ code: 3 })).toEqual({ why: 'other', words: '{"code":3}' });
  for (const nothing of [undefined, '', new Error('')]) expect(startFailure(nothing)).toEqual({ why: 'unknown' });
});
