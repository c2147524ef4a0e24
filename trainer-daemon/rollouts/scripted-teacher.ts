/** Starting the scripted demonstrator that a harness ships, as a server behind the proxy like any other. */
import { teacherReadySchema } from '../../protocol/adapter.ts';
import type { Upstream } from '../proxy/contract.ts';
import { createUpstream } from '../proxy/index.ts';
import type { LoadedAdapter } from './contract.ts';
import { HarnessProcess } from './harness-process.ts';
import type { ProcessRoster } from './process-roster.ts';
import { HarnessError } from './run-episodes.ts';

export interface ScriptedTeacher {
  upstream: Upstream;
  close(): Promise<void>;
}

/**
 * Starts the adapter's scripted teacher and waits for its ready line, `{"url": "http://127.0.0.1:PORT/v1", "model": ...}`.
 * @throws AdapterError when the adapter ships none; HarnessError when it ends, or says nothing for `timeoutSeconds`.
 */
export async function startScriptedTeacher(
  adapter: LoadedAdapter,
  roster?: ProcessRoster,
  timeoutSeconds = 60,
): Promise<ScriptedTeacher> {
  const teacher = new HarnessProcess(await adapter.scriptedTeacher(), adapter.workspace, adapter.withheld, roster);
  const fail = async (problem: string): Promise<never> => {
    await teacher.kill(1000);
    const words = (teacher.stderr.toString() || teacher.stdout.toString()).trim().slice(-500);
    throw new HarnessError(
      `the scripted teacher of ${adapter.file} ${problem}${words ? `; last output: ${words}` : ''}`,
    );
  };
  let timer: NodeJS.Timeout | undefined;
  const ready = new Promise<{ url: string; model: string }>((resolve) => {
    let text = '';
    teacher.onStdout = (piece) => {
      text += piece;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const line = readyLine(text.slice(0, end));
        text = text.slice(end + 1);
        if (line) resolve(line);
      }
    };
  });
  const first = await Promise.race([
    ready,
    teacher.ended,
    new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), timeoutSeconds * 1000);
    }),
  ]);
  clearTimeout(timer);
  teacher.onStdout = undefined;
  if (first === undefined) return fail(`printed no ready line within ${timeoutSeconds} s`);
  if (!('url' in first))
    return fail(first.launchError ?? `ended before it was ready (${first.signal ?? `exit code ${first.exitCode}`})`);
  const { hostname } = new URL(first.url);
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
    return fail(`says it serves at ${hostname}; a scripted teacher serves on this machine alone`);
  const upstream = createUpstream({ kind: 'openai', url: first.url, model: first.model, policyVersion: () => null });
  return {
    // It plays a script: sampling settings mean nothing to it.
    upstream: { ...upstream, name: 'scripted', client: { ...upstream.client, supports: { topK: true, seed: true } } },
    close: () => teacher.kill(),
  };
}

function readyLine(line: string): { url: string; model: string } | undefined {
  try {
    const parsed = teacherReadySchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
