/** Rendering prompts again, as the trainer does it, in a program of its own: a run's chat template is a program as well. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { policySection } from '../../../protocol/ids.ts';
import { type RenderRequest, renderedPromptSchema, templateArguments } from '../../../protocol/prompt-rendering.ts';
import type { ResolvedCall } from '../../../protocol/records.ts';
import type { Recording } from '../../../recordings/index.ts';

/** A tokenizer of 150,000 tokens takes a second or two to load. Milliseconds. */
const PATIENCE = 30_000;
const MOST_OUTPUT = 64 * 1024 * 1024;
const KEPT = 8;

export class PromptRenderer {
  private readonly program: string;
  private readonly runtime: () => string;
  private readonly environment: Record<string, string>;
  /** By run and call. */
  private readonly rendered = new Map<string, Promise<number[]>>();

  /** @param program the built `prompt-rendering.mjs`. @param runtime what runs it. */
  constructor(program: string, runtime: () => string, environment: Record<string, string> = {}) {
    this.program = program;
    this.runtime = runtime;
    this.environment = environment;
  }

  /**
   * Token ids of a call's prompt under the chat template of the policy that answered.
   * @throws Error with the reason when it cannot be rendered.
   */
  render(recording: Recording, call: ResolvedCall): Promise<number[]> {
    const key = JSON.stringify([recording.directory, call.id]);
    let ids = this.rendered.get(key);
    if (!ids) {
      ids = this.renderNow(recording, call);
      this.rendered.set(key, ids);
      ids.catch(() => this.rendered.delete(key));
      for (const oldest of this.rendered.keys()) {
        if (this.rendered.size <= KEPT) break;
        this.rendered.delete(oldest);
      }
    }
    return ids;
  }

  private async renderNow({ directory }: Recording, { policyVersion, request }: ResolvedCall): Promise<number[]> {
    if (policyVersion === null) throw new Error('a teacher that is no policy of the run has no chat template here');
    const folder = join(directory, policySection(policyVersion));
    const { messages, tools, other } = request;
    const asked: RenderRequest = { messages, tools, chat_template_kwargs: templateArguments(other) };
    return new Promise((resolve, reject) => {
      const options = {
        timeout: PATIENCE,
        maxBuffer: MOST_OUTPUT,
        killSignal: 'SIGKILL' as const,
        env: { ...process.env, ...this.environment },
      };
      const child = execFile(this.runtime(), [this.program, folder], options, (error, stdout, stderr) => {
        if (error) {
          const late = error.killed ? `it took longer than ${PATIENCE / 1000} s` : stderr.slice(-500) || error.message;
          reject(new Error(`the prompt could not be rendered again: ${late}`));
          return;
        }
        try {
          const answer = renderedPromptSchema.parse(JSON.parse(stdout));
          if ('ids' in answer) resolve(answer.ids);
          else reject(new Error(answer.problem));
        } catch {
          reject(new Error('the program that renders prompts gave no answer; see Doctor'));
        }
      });
      // A program that has ended reads no more; what became of it is told above.
      child.stdin?.on('error', () => {});
      child.stdin?.end(JSON.stringify(asked));
    });
  }
}
