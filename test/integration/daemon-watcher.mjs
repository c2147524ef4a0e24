/** A client that knows nothing of ours: follows a run from its beginning and prints every journal entry. */
import { readFileSync } from 'node:fs';
import { WebSocket } from 'ws';

const [, , recordPath, run] = process.argv;
const { port, token } = JSON.parse(readFileSync(recordPath, 'utf8'));
const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { authorization: `Bearer ${token}` } });
const send = (id, method, params) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
socket.on('open', () => {
  send(1, 'daemon.hello', { protocol: 1, client: 'watcher' });
  send(2, 'runs.subscribe', { run });
});
socket.on('message', (data) => {
  const message = JSON.parse(String(data));
  if (message.error) throw new Error(message.error.message);
  if (message.method === 'run.journal') process.stdout.write(`${JSON.stringify(message.params.line)}\n`);
});
