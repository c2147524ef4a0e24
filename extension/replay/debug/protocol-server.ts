/**
 * Takes the requests of the Debug Adapter Protocol one after the other, and answers each before what it set going can be
 * heard of: a response comes before the `stopped` that it leads to.
 */
import { DebugSession, Response } from '@vscode/debugadapter';
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { plainMessage } from '../../message-text.ts';

/** Arguments and body of each request that is understood. */
export interface Requests {
  initialize: [Dap.InitializeRequestArguments, Dap.Capabilities];
  launch: [unknown, undefined];
  configurationDone: [Dap.ConfigurationDoneArguments, undefined];
  disconnect: [Dap.DisconnectArguments | undefined, undefined];
  terminate: [Dap.TerminateArguments | undefined, undefined];
  restart: [unknown, undefined];
  setBreakpoints: [Dap.SetBreakpointsArguments, Dap.SetBreakpointsResponse['body']];
  setFunctionBreakpoints: [Dap.SetFunctionBreakpointsArguments, Dap.SetFunctionBreakpointsResponse['body']];
  setExceptionBreakpoints: [
    Dap.SetExceptionBreakpointsArguments,
    NonNullable<Dap.SetExceptionBreakpointsResponse['body']>,
  ];
  dataBreakpointInfo: [Dap.DataBreakpointInfoArguments, Dap.DataBreakpointInfoResponse['body']];
  setDataBreakpoints: [Dap.SetDataBreakpointsArguments, Dap.SetDataBreakpointsResponse['body']];
  exceptionInfo: [Dap.ExceptionInfoArguments, Dap.ExceptionInfoResponse['body']];
  threads: [undefined, Dap.ThreadsResponse['body']];
  stackTrace: [Dap.StackTraceArguments, Dap.StackTraceResponse['body']];
  scopes: [Dap.ScopesArguments, Dap.ScopesResponse['body']];
  variables: [Dap.VariablesArguments, Dap.VariablesResponse['body']];
  evaluate: [Dap.EvaluateArguments, Dap.EvaluateResponse['body']];
  completions: [Dap.CompletionsArguments, Dap.CompletionsResponse['body']];
  source: [Dap.SourceArguments, Dap.SourceResponse['body']];
  continue: [Dap.ContinueArguments, Dap.ContinueResponse['body']];
  reverseContinue: [Dap.ReverseContinueArguments, undefined];
  next: [Dap.NextArguments, undefined];
  stepIn: [Dap.StepInArguments, undefined];
  stepOut: [Dap.StepOutArguments, undefined];
  stepBack: [Dap.StepBackArguments, undefined];
  pause: [Dap.PauseArguments, undefined];
  gotoTargets: [Dap.GotoTargetsArguments, Dap.GotoTargetsResponse['body']];
  goto: [Dap.GotoArguments, undefined];
}

/** What a request is answered with, and what is done once the answer is sent. */
export interface Reply<Body> {
  body: Body;
  after?: () => void;
}
export type Handlers = {
  [Command in keyof Requests]: (args: Requests[Command][0]) => Promise<Reply<Requests[Command][1]>>;
};

/** Shown to the person, not only logged. */
export class ShownError extends Error {}

export abstract class ProtocolServer extends DebugSession {
  protected abstract readonly handlers: Handlers;
  private last: Promise<void> = Promise.resolve();

  constructor() {
    super();
    // It is the program's affair when to end; in an editor the process is not ours.
    this.setRunAsServer(true);
  }

  protected override dispatchRequest(request: Dap.Request): void {
    this.last = this.last.then(() => this.answer(request));
  }

  private async answer(request: Dap.Request): Promise<void> {
    const response = new Response(request) as Dap.Response;
    try {
      const { command } = request;
      if (!Object.hasOwn(this.handlers, command)) throw new Error(`the request "${command}" is not supported`);
      const handler = this.handlers[command as keyof Requests] as (args: unknown) => Promise<Reply<unknown>>;
      const { body, after } = await handler(request.arguments);
      if (body !== undefined) response.body = body;
      this.sendResponse(response);
      after?.();
    } catch (error) {
      response.success = false;
      // The editor makes a notification of it, and reads braces as places of variables.
      response.message = plainMessage((error as Error).message);
      const format = response.message.replaceAll(/[{}]/g, (brace) => (brace === '{' ? '(' : ')'));
      response.body = { error: { id: 1, format, showUser: error instanceof ShownError } };
      this.sendResponse(response);
    }
  }
}
