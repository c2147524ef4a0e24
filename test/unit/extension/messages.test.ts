/** Foreign text in notifications: the editor makes links of `[words](command:...)`, which run commands when clicked. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { plainDetail, plainItem, plainLabel, plainMessage } from '../../../extension/message-text.ts';
import type { ReplaySessions } from '../../../extension/replay/sessions.ts';

/** Messages that the editor was given: the text, and the small print of a dialog. */
const given: { text: string; detail?: string }[] = [];
/** Lists that the editor was given; it picks the last. */
const lists: { label: string; description?: string; detail?: string }[][] = [];

vi.mock('vscode', () => {
  const show = async (text: string, first: unknown) => {
    given.push({ text, ...(first as { detail?: string } | undefined) });
  };
  const disposable = { dispose: () => {} };
  return {
    Disposable: { from: () => disposable },
    ProgressLocation: { Notification: 15 },
    window: {
      showInformationMessage: show,
      showWarningMessage: show,
      showErrorMessage: show,
      showInputBox: async (box: { prompt: string }) => box.prompt,
      showQuickPick: async (items: (typeof lists)[number]) => {
        lists.push(items);
        return items.at(-1);
      },
      registerUriHandler: () => disposable,
    },
    debug: {
      registerDebugConfigurationProvider: () => disposable,
      registerDebugAdapterDescriptorFactory: () => disposable,
      onDidChangeActiveDebugSession: () => disposable,
    },
    workspace: { isTrusted: true, workspaceFolders: [] },
    l10n: { t: (text: string, ...args: unknown[]) => text.replace(/\{(\d+)\}/g, (_, at) => String(args[at])) },
  };
});

const { Replay } = await import('../../../extension/replay/replay.ts');
const { askText, pick } = await import('../../../extension/picking.ts');
const messages = await import('../../../extension/messages.ts');

/** What the editor takes for a link in a notification. */
const LINK = /\[[^\]]+\]\((?:https?:\/\/|command:|file:)[^)\s]+(?: (["'])(?:.+?)\1)?\)/i;
const COMMAND = '[Open](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22id%5Cn%22%7D)';

beforeEach(() => {
  given.length = 0;
});

describe('a message', () => {
  it('has no links, and shows what is not seen', () => {
    expect(COMMAND).toMatch(LINK);
    expect(plainMessage(`/runs/${COMMAND} is no run`)).toBe(
      '/runs/[Open] (command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22id%5Cn%22%7D) is no run',
    );
    expect(plainMessage('a\u001b[2J\u202egpj.exe\u0007')).toBe('a␛[2J‹U+202E›gpj.exe␇');
    expect(plainMessage('line 3:\n  wrong\r\n')).toBe('line 3: wrong ');
    expect(plainDetail(`first\n${COMMAND}\u202e`)).toMatch(/^first\n\[Open\] \(command:.*‹U\+202E›$/);
  });

  it('of a great length keeps its start and its end', () => {
    const long = plainMessage(`start ${'x'.repeat(1_000_000)} end`);
    expect(long).toMatch(/^start x+…x+ end$/);
    expect(long.length).toBe(600);
    expect(plainMessage('\u202e'.repeat(600)).length).toBe(600);
    expect(plainMessage('😀'.repeat(1000))).not.toMatch(/U\+D/);
  });

  it('has no link whatever it is made of', () => {
    const pieces = fc.constantFrom('[', ']', '(', ')', 'command:', 'a', ' ', '\n', '\r\n', '\u202e', '\u200d', COMMAND);
    const text = fc.array(pieces, { maxLength: 300 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (one) => {
        for (const plain of [plainMessage(one), plainDetail(one)]) {
          expect(plain).not.toMatch(LINK);
          expect(plain.length).toBeLessThanOrEqual(600);
          // The editor itself leaves ends of lines out.
          expect(plain.replaceAll('\n', '')).not.toMatch(LINK);
        }
      }),
    );
  });

  it('is made plain by every way to show one', async () => {
    const { tell, tellWarning, tellError, tellProblem, confirmed } = messages;
    for (const show of [tell, tellWarning, tellError, tellProblem]) await show(COMMAND);
    await confirmed(COMMAND, 'Open', COMMAND);
    expect(given).toHaveLength(5);
    for (const { text, detail = '' } of given) {
      expect(text).toContain('[Open] (command:');
      expect(text + detail).not.toMatch(LINK);
    }
    expect(given[4].detail).toContain('[Open] (command:');
  });

  it('is shown from one file alone, and so are lists', () => {
    const root = resolve(import.meta.dirname, '../../../extension');
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const calling = (what: RegExp) => files.filter((file) => what.test(readFileSync(join(root, file), 'utf8')));
    const messages =
      /\bshow(?:Error|Warning|Information)Message\b|ProgressLocation\.Notification|\bwindow\.withProgress\b/;
    expect(calling(messages)).toEqual(['messages.ts']);
    expect(calling(/\b(?:show|create)(?:QuickPick|InputBox)\b/)).toEqual(['picking.ts']);
  });
});

describe('a text in a list', () => {
  it('has no icons, and keeps its direction', () => {
    expect(plainLabel('$(zap) \u202eevil\nmore')).toBe('$ (zap) ‹U+202E›evil␊more');
    expect(plainLabel('x'.repeat(1000)).length).toBe(301);
    expect(plainItem({ label: '$(zap)\u202e', description: '\u2066d', tooltip: 'one\ntwo\u202e' })).toEqual({
      ...{ label: '$ (zap)‹U+202E›', description: '‹U+2066›d', tooltip: 'one\ntwo‹U+202E›' },
    });
  });

  it('asks under a box without links', async () => {
    const prompt = await askText({ title: 'Run', prompt: `State of ${COMMAND}` });
    expect(prompt).toContain('State of [Open] (command:');
    expect(prompt).not.toMatch(LINK);
  });

  it('is picked as it is, and shown plain, with the icon that it is given', async () => {
    const evil = { icon: 'pass', label: '$(zap)\u202e', description: '$(x)', detail: '\u202e', id: 7 };
    expect(await pick([{ label: 'other' }, evil], { title: 'Which?' })).toBe(evil);
    const [[, item]] = lists;
    expect(item).toMatchObject({ label: '$(pass) $ (zap)‹U+202E›', description: '$ (x)', detail: '‹U+202E›' });
  });
});

describe('a link to a replay', () => {
  it('brings no link into what is said of it', async () => {
    const log = { warn: () => {} };
    const replay = new Replay({} as ReplaySessions, log as never);
    const query = new URLSearchParams({ run: `/${COMMAND}`, episode: 'e' }).toString();
    await replay.handleUri({ path: '/replay', query } as never);
    await replay.handleUri({ path: `/${COMMAND}`, query: '' } as never);
    expect(given).toHaveLength(2);
    for (const { text } of given) {
      expect(text).toContain('[Open] (command:');
      expect(text).not.toMatch(LINK);
    }
  });
});
