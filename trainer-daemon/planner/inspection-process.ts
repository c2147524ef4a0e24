/**
 * Looks into the checkpoint folder given as its argument and prints what is wrong with it, a list of problems as JSON.
 * For an editor's language server, which neither loads a tokenizer itself nor waits for one.
 */
import { inspectCheckpoint } from './inspect-checkpoint.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('usage: checkpoint-inspection.mjs FOLDER\n');
  process.exit(2);
}
const { problems } = await inspectCheckpoint(folder);
process.stdout.write(JSON.stringify(problems), () => process.exit(0));
