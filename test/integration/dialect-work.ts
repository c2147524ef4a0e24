/** A piece of work that tests play in every dialect: what the planner writes, and what the history then must hold. */
import type { Turn } from '../doubles/vllm-server.ts';

/** Two turns of work in the way models write it, spaces and all; then the last word. */
export const WORK: Turn[] = [
  {
    reasoning: 'first the cube, then the bowl',
    content: 'Both at once.',
    toolCalls: [
      { id: 'call_a', name: 'pick', arguments: '{"object": "red-cube", "height": 1.0}' },
      { id: 'call_b', name: 'look', arguments: '{}' },
    ],
    finishReason: 'tool_calls',
  },
  {
    toolCalls: [{ id: 'call_c', name: 'pick', arguments: '{"height":-0,"object":"bowl"}' }],
    finishReason: 'tool_calls',
  },
  { reasoning: 'done', content: 'The cube is in the bowl.' },
];
export const RESULTS: Record<string, string> = {
  call_a: 'holding red-cube',
  call_b: 'a bowl',
  call_c: 'error: too heavy',
};

/** What the third request must hold, whatever the dialect: the planner's own messages and the results. */
export const TRANSCRIPT = [
  {
    role: 'assistant',
    content: 'Both at once.',
    reasoning_content: 'first the cube, then the bowl',
    tool_calls: [
      {
        id: 'call_a',
        type: 'function',
        function: { name: 'pick', arguments: '{"object": "red-cube", "height": 1.0}' },
      },
      { id: 'call_b', type: 'function', function: { name: 'look', arguments: '{}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_a', content: 'holding red-cube' },
  { role: 'tool', tool_call_id: 'call_b', content: 'a bowl' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_c', type: 'function', function: { name: 'pick', arguments: '{"height":-0,"object":"bowl"}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_c', content: 'error: too heavy' },
];
export const START = [
  { role: 'system', content: 'You are a robot.' },
  { role: 'user', content: 'Put the cube into the bowl.' },
];
