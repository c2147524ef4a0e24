/** What a benchmark returns; bench/run.mjs prints it and writes it to bench/results/. */
export interface BenchTable {
  title: string;
  columns: string[];
  rows: (string | number)[][];
  /** What the figures mean or do not mean. */
  note?: string;
}
