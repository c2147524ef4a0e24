/** The transcript of a replay in the editor: its documents and all that is shown in them. */
import { Disposable, type Uri } from 'vscode';
import { programPath, RUN_AS_NODE, runtime } from '../../programs.ts';
import type { ReplaySessions } from '../sessions.ts';
import { TranscriptDocuments } from './documents.ts';
import { TranscriptFiles } from './files.ts';
import { TokenHeat } from './heat.ts';
import { TranscriptHints } from './hints.ts';
import { provideImages } from './images.ts';
import { RecordedValues } from './inline-values.ts';
import { TranscriptLenses } from './lenses.ts';
import { CursorMarks } from './marks.ts';
import { PromptRenderer } from './prompts.ts';
import { TranscriptStructure } from './structure.ts';

/** Registers them. @param log is told what could not be shown. */
export function provideTranscripts(
  extension: Uri,
  sessions: ReplaySessions,
  log: (text: string) => void,
): { transcripts: TranscriptDocuments; subscription: Disposable } {
  const renderer = new PromptRenderer(programPath(extension, 'prompt-rendering'), runtime, RUN_AS_NODE);
  const transcripts = new TranscriptDocuments(sessions, renderer, log);
  const subscription = Disposable.from(
    transcripts,
    new TranscriptFiles(transcripts),
    new TranscriptLenses(transcripts),
    new TranscriptHints(transcripts),
    new TranscriptStructure(transcripts),
    new TokenHeat(transcripts, log),
    new CursorMarks(sessions, transcripts),
    new RecordedValues(sessions, transcripts),
    provideImages(),
  );
  return { transcripts, subscription };
}
