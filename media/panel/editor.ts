/** The editor around a page: messages in both directions, and what it remembers of the page. */

interface EditorApi {
  postMessage(message: unknown): void;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): EditorApi;

const api = acquireVsCodeApi();

/** Sends a message to the host, which checks it. */
export function send(message: unknown): void {
  api.postMessage(message);
}

/** What the page is opened with again after a reload of the window. */
export function remember(state: unknown): void {
  api.setState(state);
}

/** What every page sends besides its own messages. */
export type FromEveryPage = { type: 'ready' } | { type: 'trouble'; message: string };

/** Tells the host's log that something went wrong here. */
export function trouble(message: string): void {
  send({ type: 'trouble', message: message.slice(0, 4000) } satisfies FromEveryPage);
}
