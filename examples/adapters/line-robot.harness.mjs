// A whole robot harness in a hundred lines: a robot on a line of ten cells that a planner drives by tool calls.
// It knows nothing of training. It talks to whatever OpenAI-compatible server it is given and leaves a result file.
//
//   node line-robot.harness.mjs --goal press --start 3 --lamp 7 --max-turns 20 --out DIR
//
// Server, key and model come from OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    goal: { type: 'string', default: 'reach' },
    start: { type: 'string', default: '0' },
    lamp: { type: 'string', default: '5' },
    'max-turns': { type: 'string', default: '20' },
    out: { type: 'string', default: '.' },
  },
});
const lamp = Number(values.lamp);
let position = Number(values.start);
let pressed = false;

const tools = [
  {
    type: 'function',
    function: {
      name: 'move',
      description: 'Move along the line. Positive is right, negative is left.',
      parameters: { type: 'object', properties: { cells: { type: 'integer' } }, required: ['cells'] },
    },
  },
  {
    type: 'function',
    function: {
      name: 'press',
      description: 'Press the button under the robot.',
      parameters: { type: 'object', properties: {} },
    },
  },
];

/** Carries out one tool call; what it returns is what the planner reads next. */
function act(name, args) {
  if (name === 'move') {
    if (!Number.isInteger(args.cells)) return 'error: cells must be a whole number';
    position = Math.min(9, Math.max(0, position + args.cells));
    return `you are at cell ${position}`;
  }
  if (name === 'press') {
    pressed ||= position === lamp;
    return position === lamp ? 'the lamp is on' : 'nothing happens';
  }
  return `error: there is no tool ${name}`;
}

/** Success is read from the world, never from what the planner says. */
const solved = () => (values.goal === 'press' ? pressed : position === lamp);

async function ask(messages) {
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
    body: JSON.stringify({ model: process.env.OPENAI_MODEL, messages, tools }),
  });
  if (!response.ok) throw new Error(`the planner's server answered ${response.status}`);
  return (await response.json()).choices[0].message;
}

const task = values.goal === 'press' ? 'Switch the lamp on.' : 'Go to the lamp.';
const messages = [
  { role: 'system', content: 'You drive a robot on a line of cells 0 to 9. Use the tools.' },
  { role: 'user', content: `${task} You are at cell ${position}; the lamp is at cell ${lamp}.` },
];
let turns = 0;
let failure = null;
try {
  while (turns < Number(values['max-turns']) && !solved()) {
    const answer = await ask(messages);
    messages.push(answer);
    turns++;
    if (!answer.tool_calls?.length) break; // the planner has nothing more to do
    for (const call of answer.tool_calls) {
      let result;
      try {
        result = act(call.function.name, JSON.parse(call.function.arguments || '{}'));
      } catch {
        result = 'error: the arguments are no JSON'; // the planner's mistake, and a valid one
      }
      messages.push({ role: 'tool', tool_call_id: call.id, content: result });
    }
  }
} catch (error) {
  failure = error.message; // the server's fault, not the planner's
}
const result = { solved: solved(), position, turns, failure };
writeFileSync(join(values.out, 'line-robot.json'), `${JSON.stringify(result)}\n`);
console.log(JSON.stringify(result));
process.exitCode = failure === null ? 0 : 3;
