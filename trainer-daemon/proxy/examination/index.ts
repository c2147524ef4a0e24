/** Examination of servers, for `doctor --upstream`. */
export { type ExaminationOptions, examineUpstream, type UpstreamFinding } from './examine.ts';
