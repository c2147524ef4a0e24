/** The built language server over stdio: findings, answers, clients that are slow or gone. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  CancellationTokenSource,
  CodeActionRequest,
  CodeLensRequest,
  CompletionRequest,
  DefinitionRequest,
  DocumentSymbolRequest,
  FoldingRangeRequest,
  HoverRequest,
  InlayHintRequest,
} from 'vscode-languageserver/node';
import { CHECK_RESULTS_METHOD } from '../../language-server/handlers/check-results.ts';
import { bundlePath, packageRoot } from '../../trainer-daemon/bundles.ts';
import { LanguageClient } from './language-client.ts';

const HEAD = 'version: 1\nname: x\nharness:\n  adapter: ./mine.adapter.mjs\n  suites: [s]\n  tasks: { s: 0-9 }\n';
/** Would tell on itself if anything ran it. */
const ADAPTER = `import { writeFileSync } from 'node:fs';
import { defineAdapter } from 'agentic-robo-rl';
writeFileSync(new URL('ran.txt', import.meta.url), 'ran');
export default defineAdapter({
  name: 'mine',
  launch: ({ baseUrl, apiKey }) => ({ command: 'play', args: ['--api-key', apiKey], env: { URL: baseUrl } }),
  outcome: ({ episode: { task, init, attempt }, readJson }) => ({
    task,
    init,
    attempt,
    reward: readJson('result.json')?.success ? 1 : 0,
    valid: true,
  }),
});
`;
let folder: string;
let client: LanguageClient;
const uri = (name: string) => pathToFileURL(join(folder, name)).href;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'arrl language ü-'));
  writeFileSync(join(folder, 'mine.adapter.mjs'), ADAPTER);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(async () => {
  client = new LanguageClient();
  await client.start();
});
afterEach(() => {
  client.process.kill('SIGKILL');
});

describe('a config', () => {
  it('has findings for each version, answers and fixes', async () => {
    const document = uri('a.training.yaml');
    const textDocument = { uri: document };
    await client.open(document, `${HEAD}rl: { rouns: 1 }\n`);
    const first = await client.findings(document, 1);
    expect(first.map(({ code, range, severity }) => [code, range.start, severity])).toEqual([
      ['unknown-key', { line: 6, character: 6 }, 1],
    ]);
    expect(first[0].codeDescription?.href).toMatch(/^file:.*docs\/findings\/unknown-key\.md$/);

    const actions = await client.connection.sendRequest(CodeActionRequest.type, {
      textDocument,
      range: first[0].range,
      context: { diagnostics: first },
    });
    expect(actions).toEqual([
      expect.objectContaining({
        title: 'Change to rounds',
        edit: { changes: { [document]: [{ range: first[0].range, newText: 'rounds' }] } },
      }),
    ]);

    await client.insert(document, 2, 6, 10, 'd');
    expect(await client.findings(document, 2)).toEqual([]);

    const at = { textDocument, position: { line: 6, character: 8 } };
    expect(JSON.stringify(await client.connection.sendRequest(HoverRequest.type, at))).toContain('Default: 9');
    const offers = await client.connection.sendRequest(CompletionRequest.type, {
      textDocument,
      position: { line: 7, character: 0 },
    });
    expect((offers as { label: string }[]).map((one) => one.label)).toContain('trainer');
    const symbols = await client.connection.sendRequest(DocumentSymbolRequest.type, { textDocument });
    expect(symbols?.map((one) => one.name)).toEqual(['version', 'name', 'harness', 'rl']);
    expect(await client.connection.sendRequest(FoldingRangeRequest.type, { textDocument })).toEqual([
      { startLine: 2, endLine: 5 },
    ]);
    const links = await client.connection.sendRequest(DefinitionRequest.type, {
      textDocument,
      position: { line: 3, character: 15 },
    });
    expect(links).toEqual([expect.objectContaining({ targetUri: uri('mine.adapter.mjs') })]);
    const hints = await client.connection.sendRequest(InlayHintRequest.type, {
      textDocument,
      range: { start: { line: 6, character: 0 }, end: { line: 7, character: 0 } },
    });
    expect(hints?.map((hint) => hint.label)).toContain('384 episodes a round');
    expect(await client.end()).toBe(0);
  });

  it('is looked at again when a file it names comes', async () => {
    const document = uri('b.training.yaml');
    await client.open(document, HEAD.replace('mine.', 'later.'));
    expect((await client.findings(document, 1)).map(({ code }) => code)).toEqual(['missing-adapter']);
    writeFileSync(join(folder, 'later.adapter.mjs'), ADAPTER);
    client.published.length = 0;
    await client.connection.sendNotification('workspace/didChangeWatchedFiles', { changes: [] });
    expect(await client.findings(document, 1)).toEqual([]);
  });

  it('has what is wrong with its checkpoint, until that is mended', async () => {
    const checkpoint = join(folder, 'planner');
    cpSync(join(packageRoot(), 'test/fixtures/configs/beside/planner-endless'), checkpoint, { recursive: true });
    const document = uri('k.training.yaml');
    const saying = async (what: string) => {
      for (;;) {
        const [found] = client.published.filter((one) => one.uri === document).slice(-1);
        if (found?.diagnostics.map(({ code }) => code).join() === what) return found.diagnostics;
        await new Promise((resume) => setTimeout(resume, 20));
      }
    };
    await client.open(document, `${HEAD}planner: { checkpoint: ./planner }\n`);
    const [{ message, range }] = await saying('checkpoint');
    expect(message).toContain(`${join('planner', 'config.json')}: eos_token_id is undefined`);
    expect([range.start, range.end]).toEqual([
      { line: 6, character: 23 },
      { line: 6, character: 32 },
    ]);
    cpSync(join(packageRoot(), 'test/fixtures/configs/beside/planner'), checkpoint, { recursive: true });
    await client.connection.sendNotification('workspace/didChangeWatchedFiles', { changes: [] });
    await saying('');
    // A mistake in the config comes first, and hides it.
    await client.insert(document, 2, 7, 0, 'sed: 1\n');
    await saying('unknown-key');
    expect(await client.end()).toBe(0);
  });

  it('a cancelled request is answered as such', async () => {
    const document = uri('c.training.yaml');
    await client.open(document, HEAD);
    const source = new CancellationTokenSource();
    const asked = client.connection.sendRequest(
      DocumentSymbolRequest.type,
      { textDocument: { uri: document } },
      source.token,
    );
    source.cancel();
    await expect(asked).rejects.toMatchObject({ code: -32800 });
    expect(await client.findings(document, 1)).toEqual([]);
  });
});

describe('an adapter', () => {
  it('has findings, lenses and what became of recorded outputs, and is never run', async () => {
    const document = uri('mine.adapter.mjs');
    await client.open(document, ADAPTER);
    expect((await client.findings(document, 1)).map(({ code }) => code)).toContain('api-key-exposed');
    await client.open(uri('d.training.yaml'), HEAD);
    expect(await client.findings(uri('d.training.yaml'), 1)).toEqual([]);
    const lenses = await client.connection.sendRequest(CodeLensRequest.type, { textDocument: { uri: document } });
    expect(lenses?.map(({ command }) => [command?.title, command?.arguments?.[0]])).toContainEqual(['Train', document]);

    const { createHash } = await import('node:crypto');
    const sha256 = createHash('sha256').update(ADAPTER).digest('hex');
    const output = (directory: string, reward: number) => ({
      directory,
      known: true,
      outcome: { task: 's/0', init: 1, attempt: 0, reward, valid: true },
      problem: null,
      remark: null,
    });
    const adapter = { name: 'mine', file: 'mine.adapter.mjs', sha256, hasScriptedTeacher: false, tasks: {} };
    const results = { ok: true, adapter, outputs: [output('one', 1), output('two', 1)] };
    expect(await client.connection.sendRequest(CHECK_RESULTS_METHOD, { uri: document, results })).toEqual({
      accepted: true,
    });
    const hints = await client.connection.sendRequest(InlayHintRequest.type, {
      textDocument: { uri: document },
      range: { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } },
    });
    expect(JSON.stringify(hints)).toContain('reward = 1');
    await expect(
      client.connection.sendRequest(CHECK_RESULTS_METHOD, { uri: document, results: 3 }),
    ).rejects.toMatchObject({ code: -32602 });
    expect(existsSync(join(folder, 'ran.txt'))).toBe(false);
  });
});

describe('clients that are not well', () => {
  it('a slow one gets the findings of the last version, and the server does not grow', async () => {
    const document = uri('e.training.yaml');
    const wrong = Array.from({ length: 200 }, (_, i) => `key${i}: 1`).join('\n');
    await client.open(document, `${HEAD}${wrong}\n`);
    await client.findings(document, 1);
    client.process.stdout.pause();
    for (let version = 2; version <= 400; version++) {
      await client.insert(document, version, 6, 0, version === 400 ? 'seed: 1\n' : '# x\n');
      if (version % 20 === 0) await new Promise((resume) => setTimeout(resume, 40));
    }
    await new Promise((resume) => setTimeout(resume, 500));
    const status = readFileSync(`/proc/${client.process.pid}/status`, 'utf8');
    const megabytes = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    client.published.length = 0;
    client.process.stdout.resume();
    expect((await client.findings(document, 400)).length).toBeGreaterThan(100);
    expect(megabytes).toBeLessThan(400);
  });

  it('a killed one is followed within five seconds', async () => {
    const starter = `
      const server = require('node:child_process').spawn(process.execPath, [${JSON.stringify(bundlePath('language-server'))}, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
      const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { processId: process.pid, rootUri: null, capabilities: {} } });
      server.stdin.write('Content-Length: ' + message.length + '\\r\\n\\r\\n' + message);
      server.stdout.once('data', () => console.log(server.pid));
    `;
    const killed = spawn(process.execPath, ['-e', starter], { cwd: packageRoot() });
    const pid = await new Promise<number>((resolve) =>
      killed.stdout.once('data', (text) => resolve(Number(String(text)))),
    );
    killed.kill('SIGKILL');
    const started = performance.now();
    while (lives(pid) && performance.now() - started < 60_000) await new Promise((resume) => setTimeout(resume, 50));
    expect(lives(pid)).toBe(false);
  });

  it('nonsense on the wire does not end the server', async () => {
    await expect(client.connection.sendRequest('no/such', {})).rejects.toMatchObject({ code: -32601 });
    const document = uri('f.training.yaml');
    await client.open(document, HEAD);
    expect(await client.findings(document, 1)).toEqual([]);
  });
});

/** A zombie has ended; only its parent has not looked. */
function lives(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
