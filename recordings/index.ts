/** Reading run directories (design section 3.1). Imports only protocol/. */
export type { Blob } from './bodies.ts';
export { type Damaged, isDamaged, type Said, saidBy } from './documents.ts';
export type { RecordIndex } from './record-index.ts';
export { openRecording, type Recording, RecordingError, type SectionNames } from './recording.ts';
export { type CallInPart, UNREAD_MESSAGE } from './resolve.ts';
export { type DecodedTrajectory, readTrajectory } from './trajectory.ts';
