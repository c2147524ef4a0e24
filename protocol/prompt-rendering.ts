/** What passes between those who want a prompt rendered and the program that renders it. */
import { z } from 'zod';
import { messageSchema, toolSchema } from './chat.ts';

export const renderRequestSchema = z.strictObject({
  messages: z.array(messageSchema),
  tools: z.array(toolSchema).nullable(),
  /** Values that the harness gave the template (`chat_template_kwargs`). */
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullable(),
});
export type RenderRequest = z.output<typeof renderRequestSchema>;

/** Token ids of the prompt, or why there are none. */
export const renderedPromptSchema = z.union([
  z.strictObject({ ids: z.array(z.number().int().nonnegative()) }),
  z.strictObject({ problem: z.string() }),
]);
export type RenderedPrompt = z.output<typeof renderedPromptSchema>;

/** Values of a request that made the prompt what it is; null where it gave the template none. */
export function templateArguments(other: Record<string, unknown>): Record<string, unknown> | null {
  const values = other.chat_template_kwargs;
  return typeof values === 'object' && values !== null && !Array.isArray(values)
    ? (values as Record<string, unknown>)
    : null;
}
