/** The language server's process: `language-server.mjs --stdio`. Leaves when its client does. */
import './engine.ts';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createConnection, ProposedFeatures } from 'vscode-languageserver/node';
import { z } from 'zod';
import { serve } from './session.ts';

// Schemas compiled to code pay off after thousands of checks, not at an editor's first.
z.config({ jitless: true });

if (!process.argv.includes('--stdio')) {
  process.stderr.write('usage: language-server.mjs --stdio\n');
  process.exit(2);
}
// A client that is gone reads no more; the pipe then breaks, or ends.
process.stdout.on('error', () => process.exit(1));
process.stdin.on('end', () => process.exit(0));
process.stdin.on('close', () => process.exit(0));

const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout);
process.on('uncaughtException', (error) => connection.console.error(`internal error: ${error.stack}`));
process.on('unhandledRejection', (reason) => connection.console.error(`internal error: ${String(reason)}`));
serve(connection, dirname(fileURLToPath(import.meta.url)));
