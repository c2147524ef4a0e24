/** Text a fresh planner's tokenizer is trained on: transcripts as the planner itself will read and write them. */
import { Template } from '@huggingface/jinja';
import type { PromptRequest } from './chat-template.ts';
import { COMPACT_TEMPLATE } from './compact-template.ts';
import { CONTROL_TOKENS } from './tokenizer-files.ts';

/**
 * The pieces of a transcript between control tokens, as the compact chat template renders it. Control tokens are added
 * tokens of their own, so no merge may be learned across them.
 */
export function transcriptPieces(request: PromptRequest): string[] {
  const messages = request.messages.map((message) => ({
    ...message,
    content:
      typeof message.content === 'string'
        ? message.content
        : (message.content ?? []).map((part) => part.text ?? '').join('\n'),
  }));
  const text = new Template(COMPACT_TEMPLATE).render({
    messages,
    tools: request.tools?.length ? request.tools : null,
    add_generation_prompt: false,
  });
  let pieces = [text];
  for (const token of CONTROL_TOKENS) pieces = pieces.flatMap((piece) => piece.split(token));
  return pieces.filter((piece) => piece !== '');
}
