/**
 * Renders a prompt with the tokenizer and chat template of the folder given as its argument: reads a request from standard input
 * and prints an answer, both as `protocol/prompt-rendering.ts` has them. A process of its own, since a template is a program:
 * whoever asks waits as long as it likes, and ends it.
 */
import { text } from 'node:stream/consumers';
import { type RenderedPrompt, renderRequestSchema } from '../../protocol/prompt-rendering.ts';
import { PromptError, renderPrompt } from './chat-template.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { loadTokenizer } from './tokenizer.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('usage: prompt-rendering.mjs FOLDER < REQUEST\n');
  process.exit(2);
}

async function answer(): Promise<RenderedPrompt> {
  try {
    const request = renderRequestSchema.parse(JSON.parse(await text(process.stdin)));
    return { ids: renderPrompt(await loadTokenizer(folder), request) };
  } catch (error) {
    if (error instanceof PromptError || error instanceof CheckpointError) return { problem: error.message };
    return { problem: `the messages cannot be rendered: ${(error as Error).message}` };
  }
}

process.stdout.write(JSON.stringify(await answer()), () => process.exit(0));
