/** The editor around the stage: messages in both directions, checked, and what it remembers of the page. */
import { type ToHost, type ToPage, toPageSchema } from '../../extension/replay/stage/messages.ts';

interface EditorApi {
  postMessage(message: unknown): void;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): EditorApi;

const api = acquireVsCodeApi();

export function tell(message: ToHost): void {
  api.postMessage(message);
}

/** What the page is opened with again after a reload of the window. */
export function remember(state: unknown): void {
  api.setState(state);
}

/** Listens to the host. What has not the shape of a message of ours goes to `onUnreadable` and nowhere else. */
export function listen(onMessage: (message: ToPage) => void, onUnreadable: (why: string) => void): void {
  window.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const read = toPageSchema.safeParse(data);
    if (read.success) onMessage(read.data);
    else onUnreadable(read.error.message);
  });
}
