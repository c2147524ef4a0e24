/** A small fresh planner on disk, for tests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Message, Tool } from '../../../../protocol/chat.ts';
import type { PlannerInit } from '../../../../protocol/config.ts';
import { initialisePlanner } from '../../../../trainer-daemon/planner/initialise.ts';

export const tools: Tool[] = [
  {
    type: 'function',
    function: {
      name: 'move_to',
      description: 'Moves the gripper.',
      parameters: {
        type: 'object',
        properties: {
          x: { type: 'number' },
          y: { type: 'number' },
          items: { type: 'array', items: { type: 'string' } },
          side: { enum: ['left', 'right'] },
        },
        required: ['x', 'y'],
      },
    },
  },
  { type: 'function', function: { name: 'release', parameters: { type: 'object', properties: {} } } },
];

/** An episode as a harness would have it: instruction, calls, results. */
export const transcript: Message[] = [
  { role: 'system', content: 'You control a robot arm on a table.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Put the red block into the bowl.' },
      { type: 'image_url', image_url: {} },
    ],
  },
  {
    role: 'assistant',
    content: null,
    reasoning_content: 'The red block is at (0.41, -0.12).',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'move_to', arguments: '{"x": 0.41, "y": -0.12}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'ok: gripper at (0.41, -0.12)\nholding nothing' },
  {
    role: 'assistant',
    content: 'Now letting go.',
    tool_calls: [
      { id: 'c2', type: 'function', function: { name: 'release', arguments: '{}' } },
      { id: 'c3', type: 'function', function: { name: 'move_to', arguments: '{"x":0,"y":0.3,"side":"left"}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'c2', content: 'ok' },
  { role: 'tool', tool_call_id: 'c3', content: 'error: out of reach' },
  { role: 'assistant', content: 'I cannot reach it.' },
];

export const corpus: string[] = Array.from(
  { length: 30 },
  (_, i) =>
    `Put the red block into the bowl number ${i}. move_to{"x": 0.${i}1, "y": -0.12} ok: gripper at (0.41, -0.12) holding nothing. ` +
    'You control a robot arm on a table. The block is at (0.3, 0.1); error: out of reach. release{} I cannot reach it.',
);

export const tinyInit: PlannerInit = {
  layers: 2,
  hidden: 64,
  intermediate: 96,
  heads: 4,
  kvHeads: 2,
  vocabulary: 360,
  context: 512,
};

// Here and not where one is made: a hook that a running test adds is never called.
const made: string[] = [];
afterAll(() => Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true }))));

/** Writes a planner into a temporary folder that is removed after the test file. */
export async function tinyPlanner(seed = 1, init: Partial<PlannerInit> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'planner-'));
  made.push(folder);
  await initialisePlanner(folder, { ...tinyInit, ...init }, corpus, seed);
  return folder;
}
