#!/usr/bin/env node
/** Entry of the `agentic-robo-rl` command. */
import { processTerminal } from './output/terminal.ts';
import { runCommand } from './program.ts';

process.exitCode = await runCommand(processTerminal(), process.argv.slice(2));
