import { describe, expect, it } from 'vitest';
import { requireEnding } from '../../../../trainer-daemon/planner/template-guard.ts';

const source = (text: string) => ({ text, file: '/planner/chat_template.jinja', ownFile: true });

describe('requireEnding', () => {
  it('lets through a template that ends, or refuses', async () => {
    await requireEnding(source('{% for m in messages %}{{ m.content }}{% endfor %}'));
    await requireEnding(source("{{ raise_exception('no') }}"));
    await requireEnding(source('{{ nothing.at.all }}'));
  }, 30_000);

  it('refuses one that asks for more memory than there is', async () => {
    await expect(requireEnding(source('{% for i in range(100000000000) %}x{% endfor %}'))).rejects.toThrow(
      /chat_template\.jinja: the chat template needs more than 256 MB, or breaks its process.*copy it/,
    );
  }, 60_000);

  it('refuses one that does not come to an end', async () => {
    const many = '{% for i in range(3000) %}'.repeat(5) + '{% endfor %}'.repeat(5);
    await expect(requireEnding(source(many), 1)).rejects.toThrow(/did not end within 1 s/);
  }, 30_000);
});
