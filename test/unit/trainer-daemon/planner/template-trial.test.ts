import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { PromptError, renderPrompt } from '../../../../trainer-daemon/planner/chat-template.ts';
import { COMPACT_TEMPLATE } from '../../../../trainer-daemon/planner/compact-template.ts';
import { syntaxProblem } from '../../../../trainer-daemon/planner/template-lines.ts';
import { loadTokenizer } from '../../../../trainer-daemon/planner/tokenizer.ts';
import { tinyPlanner } from './tiny-planner.ts';

const PLAIN = `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}
{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

let folder: string;
beforeEach(async () => {
  folder = await tinyPlanner();
  await editConfig((config) => delete config.chat_template);
});

async function editConfig(change: (config: Record<string, unknown>) => unknown): Promise<void> {
  const file = join(folder, 'tokenizer_config.json');
  const config = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  change(config);
  await writeFile(file, JSON.stringify(config));
}

/** Loads the planner with this text in chat_template.jinja. */
async function load(template: string) {
  await writeFile(join(folder, 'chat_template.jinja'), template);
  return loadTokenizer(folder);
}

describe('syntaxProblem', () => {
  it.each<[string, string, number, string]>([
    ['a filter without a name', 'a\n{{ x | }}', 2, 'Unexpected token'],
    ['a broken expression', 'a\n\n{{ x + }}\n{{ y }}', 3, ''],
    ['a broken condition', '{# a\ncomment #}\n{% if x == %}a{% endif %}', 3, ''],
    ['a broken elif', '{% if x %}\n{% elif ( %}\n{% endif %}', 2, ''],
    ['an unknown statement', 'a\n{% include "x" %}', 2, 'Unknown statement type: include'],
    ['an unclosed loop', '{{ a }}\n{% for m in messages %}\n{{ m }}', 2, '{% for %} is never closed by {% endfor %}'],
    ['an unclosed if in a closed loop', '{% for m in x %}\n{% if m %}\n{% endfor %}', 3, 'closes {% if %} of line 2'],
    ['a stray end', 'a\nb\n{% endif %}', 3, '{% endif %} closes nothing'],
    ['a stray else', '\n{% else %}', 2, 'stands outside'],
    ['an unclosed set', '{% set x %}\nabc', 1, '{% set %} is never closed by {% endset %}'],
    ['an unclosed expression', 'a\n{{ messages', 2, '{{ is never closed by }}'],
    ['an unclosed statement', 'a\n\n{% if x', 3, '{% is never closed by %}'],
    ['an unclosed comment', '\n{# x', 2, '{# is never closed by #}'],
    ['an unclosed text', '\n{{ "x }}', 2, '{{ is never closed by }}'],
  ])('finds %s', (_what, template, line, words) => {
    const problem = syntaxProblem(template);
    expect(problem).toMatchObject({ line });
    expect(problem?.message).toContain(words);
    expect(problem?.message).not.toContain('undefined');
  });

  it('finds nothing in sound templates', () => {
    for (const template of [
      COMPACT_TEMPLATE,
      PLAIN,
      '{{ "}}" }}{% set x = {"a": {"b": 1}} %}{{ x }}',
      '',
      'no blocks {',
    ])
      expect(syntaxProblem(template)).toBeUndefined();
  });
});

describe('a chat template is tried when it is loaded', () => {
  it('a broken one is refused with file and line', async () => {
    await expect(load('a\n{% for m in messages %}\n{{ m.role + }}\n{% endfor %}')).rejects.toMatchObject({
      file: join(folder, 'chat_template.jinja'),
      line: 3,
      message: expect.stringMatching(/chat_template\.jinja:3: the chat template is broken: .*; copy it/),
    });
  });

  it('one that cannot render at all is refused with the line that fails', async () => {
    const failing = '{% for m in messages %}\n{{ m.role }}\n{{ m.content | nothing_such }}\n{% endfor %}';
    await expect(load(failing)).rejects.toMatchObject({ line: 3, problem: expect.stringContaining('nothing_such') });
    await expect(load('hello')).rejects.toThrow("the chat template leaves out the user's message");
    await expect(load('')).rejects.toThrow("leaves out the user's message");
  });

  it('one that refuses or leaves out parts of an episode is used with a warning', async () => {
    const refusing = PLAIN.replace(
      '{% for m in messages %}',
      "{% for m in messages %}\n{% if m.role == 'tool' %}\n{{ raise_exception('no tools here') }}\n{% endif %}",
    );
    expect((await load(refusing)).warnings).toEqual([
      { file: join(folder, 'chat_template.jinja'), line: 3, message: expect.stringContaining('(no tools here)') },
    ]);
    const silent = (await load(PLAIN)).warnings.map(({ message }) => message);
    expect(silent).toEqual([
      'the chat template does not show the planner the tools offered, tool calls of earlier turns',
    ]);
    const open = (await load(PLAIN.replaceAll('<|im_end|>', ''))).warnings.map(({ message }) => message);
    expect(open[1]).toContain("cannot write a teacher's answers as training targets: an answer is not closed");
    expect((await load(COMPACT_TEMPLATE)).warnings).toEqual([]);
  });

  it('a refusal at a request names the line too', async () => {
    const tokenizer = await load(
      `${PLAIN}\n{% if messages[0].content == 'bad' %}\n{{ raise_exception('not this') }}{% endif %}`,
    );
    const render = () => renderPrompt(tokenizer, { messages: [{ role: 'user', content: 'bad' }] });
    expect(render).toThrow(PromptError);
    expect(render).toThrow('the chat template refused the messages at its line 7: not this');
  });
});

describe('where a chat template may stand', () => {
  it('in tokenizer_config.json as a text or a list, of which tool_use is preferred', async () => {
    await rm(join(folder, 'chat_template.jinja'));
    await editConfig((config) => {
      config.chat_template = PLAIN;
    });
    expect((await loadTokenizer(folder)).chatTemplate).toBe(PLAIN);
    const named = (...names: string[]) => names.map((name) => ({ name, template: `${PLAIN}${name}` }));
    for (const [list, chosen] of [
      [named('default'), 'default'],
      [named('rag', 'default', 'tool_use'), 'tool_use'],
    ] as const) {
      await editConfig((config) => {
        config.chat_template = list;
      });
      expect((await loadTokenizer(folder)).chatTemplate).toBe(`${PLAIN}${chosen}`);
    }
  });

  it.each<[unknown, string]>([
    [[{ name: 'rag', template: 'x' }], 'has only the templates rag'],
    [[null], 'must be a text or a list'],
    [[{ name: 'default' }], 'must be a text or a list'],
    [{ default: 'x' }, 'must be a text or a list'],
    [5, 'must be a text or a list'],
    [[], 'must be a text or a list'],
    ['\n{{ a', 'tokenizer_config.json: chat_template, line 2 of its text, is broken'],
    ['x'.repeat(2_000_000), 'has 2000000 characters'],
  ])('refuses %j there', async (value, words) => {
    await rm(join(folder, 'chat_template.jinja'));
    await editConfig((config) => {
      config.chat_template = value;
    });
    await expect(loadTokenizer(folder)).rejects.toThrow(words);
  });

  it('says which of two is used, and never passes over a chat_template.jinja that cannot be read', async () => {
    await editConfig((config) => {
      config.chat_template = COMPACT_TEMPLATE;
    });
    expect((await load(COMPACT_TEMPLATE)).warnings).toEqual([]);
    expect((await load(PLAIN)).warnings[0]).toEqual({
      file: join(folder, 'chat_template.jinja'),
      message: 'is used; tokenizer_config.json has another chat_template, which is ignored',
    });
    await rm(join(folder, 'chat_template.jinja'));
    expect((await loadTokenizer(folder)).warnings).toEqual([
      {
        file: join(folder, 'tokenizer_config.json'),
        message: 'its chat_template is used, because chat_template.jinja does not exist',
      },
    ]);
    await mkdir(join(folder, 'chat_template.jinja'));
    await expect(loadTokenizer(folder)).rejects.toThrow('chat_template.jinja: is no file');
  });
});
