/** Recorded calls as the sample builders want them, and the planner's own way of writing text. */
import { templateArguments } from '../../protocol/prompt-rendering.ts';
import type { CallRecord, ResolvedCall, SampleCall } from '../../protocol/records.ts';
import { PromptError, renderPrompt, renderResponse } from '../planner/chat-template.ts';
import { readArchitecture } from '../planner/checkpoint.ts';
import { loadTokenizer } from '../planner/tokenizer.ts';
import type { RunContext } from './run-context.ts';

/** All calls of an episode in a section, resolved; damaged records come as such. */
export async function callsOf(
  context: RunContext,
  section: string,
): Promise<(episodeId: string) => Promise<SampleCall[]>> {
  const recording = await context.recording();
  const index = await recording.calls(section);
  await index.refresh();
  return async (episodeId) => {
    const calls: SampleCall[] = [];
    for (const record of await index.forEpisode(episodeId)) {
      if ('damaged' in record) calls.push({ damaged: record.damaged, id: null, turn: null });
      else calls.push(await resolve(record));
    }
    return calls;
  };

  async function resolve(record: CallRecord): Promise<SampleCall> {
    const call = await recording.resolveCall(record);
    return 'damaged' in call ? { damaged: call.damaged, id: record.id, turn: record.turn } : call;
  }
}

export interface PlannerText {
  /** Prompt ids under the planner's template; null when the template cannot render the messages. */
  renderPrompt(call: ResolvedCall): number[] | null;
  /** Ids of a structured response, end token included; null when the template cannot render it. */
  encodeResponse(call: ResolvedCall): number[] | null;
  /** Longest sequence in tokens. */
  context: number;
}

/** The tokenizer and template of a checkpoint folder. */
export async function openPlannerText(folder: string): Promise<PlannerText> {
  const tokenizer = await loadTokenizer(folder);
  const architecture = await readArchitecture(folder);
  return {
    context: architecture.context,
    renderPrompt: (call) => {
      try {
        const { messages, tools, other } = call.request;
        return renderPrompt(tokenizer, { messages, tools, chat_template_kwargs: templateArguments(other) });
      } catch {
        return null;
      }
    },
    encodeResponse: (call) => {
      try {
        return renderResponse(tokenizer, {
          role: 'assistant',
          content: call.response?.content ?? null,
          reasoning_content: call.response?.reasoning ?? null,
          tool_calls: call.response?.toolCalls,
        });
      } catch (error) {
        if (error instanceof PromptError) return null;
        throw error;
      }
    },
  };
}
