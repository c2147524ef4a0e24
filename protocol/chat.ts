/** OpenAI chat-completions messages as they pass the recording proxy. Unknown fields are kept. */
import { z } from 'zod';

export const contentPartSchema = z.looseObject({ type: z.string(), text: z.string().optional() });
export const toolCallSchema = z.looseObject({
  id: z.string(),
  type: z.string().default('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
export const messageSchema = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(contentPartSchema), z.null()]).optional(),
  reasoning_content: z.string().nullish(),
  tool_calls: z.array(toolCallSchema).nullish(),
  tool_call_id: z.string().optional(),
});
export const toolSchema = z.looseObject({
  type: z.string(),
  function: z
    .looseObject({ name: z.string(), description: z.string().optional(), parameters: z.unknown().optional() })
    .optional(),
});
export const chatRequestSchema = z.looseObject({
  model: z.string().optional(),
  messages: z.array(messageSchema).min(1),
  tools: z.array(toolSchema).nullish(),
  stream: z.boolean().nullish(),
});

export type Message = z.output<typeof messageSchema>;
export type ToolCall = z.output<typeof toolCallSchema>;
export type Tool = z.output<typeof toolSchema>;
export type ChatRequest = z.output<typeof chatRequestSchema>;

/** What the planner answered. */
export interface ResponseMessage {
  role: 'assistant';
  content: string | null;
  reasoning_content?: string | null;
  tool_calls?: ToolCall[];
}

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}
