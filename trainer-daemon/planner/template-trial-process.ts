/** Renders the chat template given on standard input; see template-guard.ts. Ends with 0 whether or not it can be rendered. */
import { text } from 'node:stream/consumers';
import { Template } from '@huggingface/jinja';

const source = await text(process.stdin);
try {
  new Template(source).render({
    messages: [{ role: 'user', content: 'text' }],
    add_generation_prompt: true,
  });
} catch {
  // Told by the trial that follows, with the line at fault.
}
process.exit(0);
