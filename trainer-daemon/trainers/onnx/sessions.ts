/** Inference sessions of the trainer's graphs: one for each kind and number of attention chunks, made when first needed. */
import { InferenceSession } from 'onnxruntime-node';
import type { Architecture } from '../../planner/architecture.ts';
import { buildScoringGraph, buildTrainingGraph } from './graph/decoder-graph.ts';
import type { OperatorSet } from './graph/tape.ts';

export type SessionKind = 'score' | 'train';

/** Chunk numbers are powers of two, so this covers a planner's usual lengths; beyond it the longest unused one goes. */
const MOST_SESSIONS = 8;

export class SessionPool {
  private readonly architecture: Architecture;
  private readonly operators: OperatorSet;
  private readonly trained: ReadonlySet<string>;
  private readonly options: InferenceSession.SessionOptions;
  private readonly sessions = new Map<string, InferenceSession>();

  constructor(
    architecture: Architecture,
    operators: OperatorSet,
    trained: ReadonlySet<string>,
    options: InferenceSession.SessionOptions,
  ) {
    this.architecture = architecture;
    this.operators = operators;
    this.trained = trained;
    this.options = options;
  }

  async get(kind: SessionKind, chunks: number): Promise<InferenceSession> {
    const key = `${kind}-${chunks}`;
    let session = this.sessions.get(key);
    if (session === undefined) {
      if (this.sessions.size >= MOST_SESSIONS) {
        const [oldest, unused] = [...this.sessions][0];
        this.sessions.delete(oldest);
        await unused.release();
      }
      const options = { operators: this.operators, chunks, trained: this.trained };
      const model =
        kind === 'train'
          ? buildTrainingGraph(this.architecture, options)
          : buildScoringGraph(this.architecture, options);
      session = await InferenceSession.create(model, this.options);
    }
    // A Map keeps insertion order: the first key is the one unused for longest.
    this.sessions.delete(key);
    this.sessions.set(key, session);
    return session;
  }

  async release(): Promise<void> {
    for (const session of this.sessions.values()) await session.release();
    this.sessions.clear();
  }
}
