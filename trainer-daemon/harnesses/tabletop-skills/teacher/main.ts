/** The scripted teacher as a process: prints where it listens as one JSON line, and ends with its parent. */
import { startTeacher, TEACHER_MODEL } from './server.ts';

const { url, server } = await startTeacher();
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
