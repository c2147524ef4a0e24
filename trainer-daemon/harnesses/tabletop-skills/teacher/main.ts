/**
 * The scripted teacher as a process: prints where it listens as one JSON line, and ends with its parent. With
 * `--careful` it makes no mistakes and checks everything.
 */
import { startTeacher, TEACHER_MODEL } from './server.ts';
import { CAREFUL } from './style.ts';

const { url, server } = await startTeacher(process.argv.includes('--careful') ? CAREFUL : undefined);
process.stdout.write(`${JSON.stringify({ url, model: TEACHER_MODEL })}\n`);
// A teacher must not outlive the run that started it.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit(0);
}, 1000).unref();
process.on('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => process.exit(0));
});
