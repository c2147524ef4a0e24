import { expect, it } from 'vitest';
import type { JournalEvent } from '../../../../protocol/journal.ts';
import { requestNotices } from '../../../../trainer-daemon/training/request-notices.ts';
import type { RunContext } from '../../../../trainer-daemon/training/run-context.ts';

it('tells each notice once a run, a resumed one included', async () => {
  const journal: JournalEvent[] = [{ type: 'warning', message: 'told before' }];
  const run = {
    events: () => journal,
    journal: async (event: JournalEvent) => void journal.push(event),
  } as unknown as RunContext;
  let context: RunContext | undefined;
  const tell = requestNotices(() => context);
  tell('too early');
  context = run;
  for (const message of ['a', 'told before', 'b', 'a', 'too early']) tell(message);
  expect(journal.map((event) => (event as { message: string }).message)).toEqual([
    'told before',
    'a',
    'b',
    'too early',
  ]);
});
