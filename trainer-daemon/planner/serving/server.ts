/**
 * The planner behind an OpenAI-compatible endpoint: POST /v1/chat/completions, GET /v1/models, POST /tokenize,
 * GET /health. Every answer tells the policy version that gave it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { inUrl, listen } from '../../listening.ts';
import { opensReasoning, PromptError, type PromptRequest, parseResponse, renderPrompt } from '../chat-template.ts';
import { requireSoundCheckpoint } from '../inspect-checkpoint.ts';
import { loadTokenizer, type PlannerTokenizer } from '../tokenizer.ts';
import { ApiError } from './api-error.ts';
import { type ChatOrder, parseChatRequest } from './chat-request.ts';
import {
  deltaChunk,
  finishReasonOf,
  firstChunk,
  type ResponseFrame,
  usageChunk,
  usageOf,
  wholeResponse,
} from './chat-response.ts';
import { PlannerEngine } from './engine.ts';
import { EventStream, readJsonBody, sendError, sendJson } from './http.ts';
import { ResponseStream } from './response-stream.ts';
import type { SampledToken } from './sampling.ts';
import type { GenerationRequest, SchedulerStats } from './scheduler.ts';

export interface PlannerServerOptions {
  /** Checkpoint folder. */
  checkpoint: string;
  policyVersion: number;
  /** Name clients ask for; any other is refused. */
  modelName: string;
  host?: string;
  /** 0: any free port. */
  port?: number;
  /** Threads of the numeric runtime; default: one for small planners, else all cores. */
  threads?: number;
  /** Responses sampled at a time. */
  maxBatch?: number;
  /** Results independent of timing and of other requests; one request is then worked on at a time. */
  deterministic?: boolean;
  /** Asked for as a bearer token when given. */
  apiKey?: string;
}

export interface PlannerServerStats extends SchedulerStats {
  context: number;
  maxBatch: number;
  parameters: number;
  workerRestarts: number;
}

export interface PlannerServer {
  /** Base URL, ends in /v1. */
  readonly url: string;
  readonly modelName: string;
  /** Version that a request made now is answered with. */
  readonly policyVersion: number;
  /** Longest sequence, prompt and response together. */
  readonly context: number;
  /** What its owner should know of the checkpoint served first, each with its file in front. */
  readonly warnings: readonly string[];
  /**
   * Serves another checkpoint without a restart: requests in flight are answered by the present one, later ones wait.
   * @throws Error when it cannot be loaded or has another tokenizer; the present one then stays.
   */
  activate(folder: string, policyVersion: number): Promise<void>;
  stats(): Promise<PlannerServerStats>;
  /** Refuses new requests, fails those in flight, and frees everything. */
  close(): Promise<void>;
}

/** @throws CheckpointError, or Error when the port is taken or the weights cannot be loaded. */
export async function startPlannerServer(options: PlannerServerOptions): Promise<RunningServer> {
  const { tokenizer, warnings } = await requireSoundCheckpoint(options.checkpoint);
  const engine = await PlannerEngine.start({
    checkpoint: options.checkpoint,
    policyVersion: options.policyVersion,
    threads: options.threads ?? null,
    maxBatch: options.maxBatch ?? 16,
    deterministic: options.deterministic ?? false,
  });
  const running = new RunningServer(options, tokenizer, engine, warnings);
  try {
    await running.listen(options.host ?? '127.0.0.1', options.port ?? 0);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return running;
}

export class RunningServer implements PlannerServer {
  url = '';
  readonly modelName: string;
  readonly warnings: readonly string[];
  /** The worker's handle. */
  readonly engine: PlannerEngine;
  private readonly options: PlannerServerOptions;
  private readonly tokenizer: PlannerTokenizer;
  private readonly server: Server;
  private requests = 0;

  constructor(options: PlannerServerOptions, tokenizer: PlannerTokenizer, engine: PlannerEngine, warnings: string[]) {
    this.warnings = warnings;
    this.options = options;
    this.modelName = options.modelName;
    this.tokenizer = tokenizer;
    this.engine = engine;
    this.server = createServer((request, response) => {
      this.answer(request, response).catch((error) => sendError(response, error));
    });
    // A response may take as long as its tokens do.
    this.server.requestTimeout = 0;
  }

  async listen(host: string, port: number): Promise<void> {
    const bound = await listen(this.server, 'the planner server', host, port);
    this.url = `http://${inUrl(host)}:${bound}/v1`;
  }

  get policyVersion(): number {
    return this.engine.policyVersion;
  }

  get context(): number {
    return this.engine.served.context;
  }

  activate(folder: string, policyVersion: number): Promise<void> {
    return this.engine.activate(folder, policyVersion, async () => {
      const tokenizer = await loadTokenizer(folder);
      if (tokenizer.sha256 !== this.tokenizer.sha256 || tokenizer.chatTemplate !== this.tokenizer.chatTemplate) {
        throw new Error(`${folder}: its tokenizer or chat template is another than the one served; start a new server`);
      }
    });
  }

  async stats(): Promise<PlannerServerStats> {
    const { context, slots, parameters } = this.engine.served;
    const stats = await this.engine.stats();
    return { ...stats, context, maxBatch: slots, parameters, workerRestarts: this.engine.restarts };
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    await this.engine.close();
    this.server.closeIdleConnections();
    setTimeout(() => this.server.closeAllConnections(), 500).unref();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname.replace(/^\/v1\/tokenize$/, '/tokenize');
    if (request.method === 'GET' && path === '/health') {
      sendJson(response, 200, { status: 'ok', policy_version: this.policyVersion });
      return;
    }
    this.authorise(request);
    const route = `${request.method} ${path}`;
    if (route === 'GET /v1/models') sendJson(response, 200, this.models());
    else if (route === 'POST /tokenize') sendJson(response, 200, this.tokenize(await readJsonBody(request)));
    else if (route === 'POST /v1/chat/completions') await this.complete(request, response);
    else throw new ApiError(404, `no such endpoint: ${route}`, { code: 'not_found' });
  }

  private authorise(request: IncomingMessage): void {
    if (this.options.apiKey === undefined) return;
    const digest = (text: string) => createHash('sha256').update(text).digest();
    const given = request.headers.authorization ?? '';
    if (timingSafeEqual(digest(given), digest(`Bearer ${this.options.apiKey}`))) return;
    throw new ApiError(401, 'the API key is missing or wrong', { code: 'invalid_api_key' });
  }

  private models(): object {
    return {
      object: 'list',
      data: [
        {
          id: this.modelName,
          object: 'model',
          created: 0,
          owned_by: 'agentic-robo-rl',
          max_model_len: this.context,
          policy_version: this.policyVersion,
        },
      ],
    };
  }

  private tokenize(body: Record<string, unknown>): object {
    this.checkModel(typeof body.model === 'string' ? body.model : null);
    const tokens =
      typeof body.prompt === 'string' ? this.tokenizer.encodeText(body.prompt) : this.render(parseChatRequest(body));
    return { count: tokens.length, max_model_len: this.context, tokens };
  }

  private checkModel(model: string | null): void {
    if (model === null || model === this.modelName) return;
    throw new ApiError(404, `the model ${JSON.stringify(model)} does not exist; this server has ${this.modelName}`, {
      param: 'model',
      code: 'model_not_found',
    });
  }

  private render(order: ChatOrder): number[] {
    const request: PromptRequest = {
      messages: order.messages,
      tools: order.tools,
      chat_template_kwargs: order.templateArguments,
    };
    try {
      return renderPrompt(this.tokenizer, request);
    } catch (error) {
      if (error instanceof PromptError) throw new ApiError(400, error.message, { param: 'messages' });
      throw error;
    }
  }

  private async complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const order = parseChatRequest(await readJsonBody(request));
    this.checkModel(order.model);
    const promptIds = this.render(order);
    const room = this.context - promptIds.length;
    if (room < 1) {
      throw new ApiError(
        400,
        `the context is ${this.context} tokens long; the messages alone are ${promptIds.length} tokens`,
        { param: 'messages', code: 'context_length_exceeded' },
      );
    }
    const number = ++this.requests;
    const frame: ResponseFrame = {
      id: `chatcmpl-${number}`,
      created: Math.floor(Date.now() / 1000),
      model: this.modelName,
      order,
      promptIds,
      tokenizer: this.tokenizer,
    };
    const generation: Omit<GenerationRequest, 'id'> = {
      promptIds,
      // A limit beyond the context is not refused: the response then ends with it.
      maxTokens: Math.min(order.maxTokens ?? room, room),
      sampling: {
        temperature: order.temperature,
        topP: order.topP,
        topK: order.topK,
        presencePenalty: order.presencePenalty,
        frequencyPenalty: order.frequencyPenalty,
        seed: order.seed ?? (this.options.deterministic ? 'unseeded' : `unseeded ${number}`),
        topLogprobs: order.topLogprobs,
      },
    };
    const gone = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) gone.abort(new Error('the client went away'));
    });
    try {
      if (order.stream) await this.stream(frame, generation, new EventStream(response), gone.signal);
      else await this.respond(frame, generation, response, gone.signal);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    }
  }

  private async respond(
    frame: ResponseFrame,
    generation: Omit<GenerationRequest, 'id'>,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const result = await this.engine.generate(generation, null, signal);
    const { tokens } = result;
    const ids = tokens.map(({ id }) => id);
    const text = result.finishReason === 'stop' ? ids.slice(0, -1) : ids;
    const parsed = parseResponse(this.tokenizer, text, opensReasoning(this.tokenizer, frame.promptIds));
    const usage = usageOf(frame.promptIds.length, tokens.length, result.cachedTokens);
    const body = wholeResponse(frame, tokens, parsed, result.finishReason, result.policyVersion, usage);
    sendJson(response, 200, body);
  }

  private async stream(
    frame: ResponseFrame,
    generation: Omit<GenerationRequest, 'id'>,
    events: EventStream,
    signal: AbortSignal,
  ): Promise<void> {
    const stream = new ResponseStream(this.tokenizer, opensReasoning(this.tokenizer, frame.promptIds));
    let begun = false;
    // The last token waits until it is known whether it is an end token, which is no part of the text.
    let waiting: SampledToken | undefined;
    const tell = (token: SampledToken, version: number) =>
      events.send(deltaChunk(frame, [token], stream.push(token.id), version, null));
    const result = await this.engine.generate(
      generation,
      (token, version) => {
        if (!begun) events.send(firstChunk(frame, version));
        begun = true;
        if (waiting) tell(waiting, version);
        waiting = token;
      },
      signal,
    );
    const version = result.policyVersion;
    const last = result.finishReason === 'stop' && waiting ? [waiting] : [];
    if (result.finishReason === 'length' && waiting) tell(waiting, version);
    const { delta, whole } = stream.finish();
    events.send(deltaChunk(frame, last, delta, version, finishReasonOf(whole, result.finishReason)));
    if (frame.order.includeUsage) {
      events.send(
        usageChunk(frame, version, usageOf(frame.promptIds.length, result.tokens.length, result.cachedTokens)),
      );
    }
    events.end();
  }
}
