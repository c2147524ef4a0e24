// The shipped scripted teacher, with one habit more: in some episodes it looks at a picture first, so that the sample run
// has pictures. The expert itself never sees the habit.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Of episodes, the share that begin with a picture. */
const SHARE = 0.25;
const CAMERA = 'agent';

/**
 * Starts the teacher on a port of 127.0.0.1.
 * @param dist folder of the built programs.
 * @returns what ends it.
 */
export async function startTeacher(dist, port) {
  const expert = spawn(process.execPath, [join(dist, 'tabletop-skills.teacher.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await Promise.race([
    onceLine(expert.stdout),
    new Promise((_, fail) =>
      expert.once('exit', (code) => fail(new Error(`the scripted teacher ended (code ${code})`))),
    ),
  ]);
  const { url } = JSON.parse(line);
  const server = createServer((asked, answer) => {
    handle(url, asked, answer).catch((error) => {
      if (answer.headersSent) return answer.destroy();
      answer.writeHead(502, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ error: { message: error.message, type: 'server_error' } }));
    });
  });
  await new Promise((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done));
  return async () => {
    expert.removeAllListeners('exit');
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    expert.kill('SIGTERM');
  };
}

function onceLine(stream) {
  return new Promise((done) => createInterface({ input: stream }).once('line', (line) => done([line])));
}

async function handle(url, asked, answer) {
  const body = await text(asked);
  const path = asked.url.replace(/^\/v1/, '');
  if (asked.method !== 'POST') return pass(await ask(url + path, asked.method, ''), answer);
  const order = JSON.parse(body);
  const first = !order.messages.some(({ role }) => role === 'assistant');
  if (first && shareOf(order.seed) < SHARE && order.stream !== true) return send(answer, 200, lookFirst(order));
  pass(await ask(url + path, 'POST', JSON.stringify({ ...order, messages: withoutLooks(order.messages) })), answer);
}

/** 0 to 1, from the seed of the request. */
function shareOf(seed) {
  return createHash('sha256').update(`look ${seed}`).digest().readUInt32BE(0) / 2 ** 32;
}

function lookFirst({ model, seed }) {
  const call = { id: `call_look${seed}`.slice(0, 20), type: 'function' };
  call.function = { name: 'look', arguments: JSON.stringify({ camera: CAMERA }) };
  const message = { role: 'assistant', content: null, reasoning_content: 'I take a picture.', tool_calls: [call] };
  return {
    ...{ id: `chatcmpl-look${seed}`, object: 'chat.completion', created: 0, model },
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
}

/** The transcript as if no picture had been taken. */
function withoutLooks(messages) {
  const looks = new Set(
    messages.flatMap(({ tool_calls: calls = [] }) =>
      (calls ?? []).filter((call) => call.function.name === 'look').map(({ id }) => id),
    ),
  );
  return messages.filter(({ role, content, tool_call_id: answered, tool_calls: calls }) => {
    if (answered !== undefined && looks.has(answered)) return false;
    if (calls?.some(({ id }) => looks.has(id))) return false;
    return !(role === 'user' && Array.isArray(content) && content.some(({ type }) => type === 'image_url'));
  });
}

function ask(url, method, body) {
  return new Promise((done, fail) => {
    const asking = request(url, { method, headers: { 'content-type': 'application/json' } }, async (reply) => {
      try {
        done({ status: reply.statusCode, body: await text(reply) });
      } catch (error) {
        fail(error);
      }
    });
    asking.once('error', fail).end(body);
  });
}

async function text(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

function pass({ status, body }, answer) {
  answer.writeHead(status, { 'content-type': 'application/json' });
  answer.end(body);
}

function send(answer, status, value) {
  pass({ status, body: JSON.stringify(value) }, answer);
}
