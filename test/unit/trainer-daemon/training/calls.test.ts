import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ResolvedCall } from '../../../../protocol/records.ts';
import { openPlannerText } from '../../../../trainer-daemon/training/calls.ts';
import { tinyPlanner } from '../planner/tiny-planner.ts';

/** Refuses tool calls, as templates of models without tools do. */
const NO_TOOLS = `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% if m.tool_calls %}{{ raise_exception('no tools') }}{% endif %}<|im_end|>{% endfor %}
{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

const answered = (response: Partial<NonNullable<ResolvedCall['response']>>) =>
  ({
    request: { messages: [{ role: 'user', content: 'go' }], tools: null },
    response: { content: 'done', reasoning: null, toolCalls: [], ...response },
  }) as unknown as ResolvedCall;

it('gives no ids, and does not throw, for a response that the template refuses', async () => {
  const folder = await tinyPlanner();
  await writeFile(join(folder, 'chat_template.jinja'), NO_TOOLS);
  const text = await openPlannerText(folder);
  expect(text.encodeResponse(answered({}))?.length).toBeGreaterThan(1);
  const call = { id: 'c', type: 'function' as const, function: { name: 'move', arguments: '{}' } };
  expect(text.encodeResponse(answered({ toolCalls: [call] }))).toBeNull();
  expect(text.encodeResponse(answered({ toolCalls: [{ id: 'c' } as never] }))).toBeNull();
});

it('renders a prompt with the template arguments that the harness gave the server', async () => {
  const folder = await tinyPlanner();
  const template = `{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}<|im_start|>assistant
{% if enable_thinking is defined and not enable_thinking %}nothink{% endif %}`;
  await writeFile(join(folder, 'chat_template.jinja'), template);
  const text = await openPlannerText(folder);
  const call = (other: object) =>
    ({ request: { messages: [{ role: 'user', content: 'go' }], tools: null, other } }) as unknown as ResolvedCall;
  const plain = text.renderPrompt(call({}))!;
  const off = text.renderPrompt(call({ chat_template_kwargs: { enable_thinking: false } }))!;
  expect(off.length).toBeGreaterThan(plain.length);
  expect(text.renderPrompt(call({ chat_template_kwargs: [] }))).toEqual(plain);
});
