/** How the script of every page begins: it finds its place, reports mistakes, hears the host, and says that it is ready. */
import './no-eval.ts';
import { type FromEveryPage, send, trouble } from './editor.ts';
import { element } from './elements.ts';
import { onThemeChange } from './theme.ts';
import { sentWord } from './words.ts';

/** A page once its document is there. */
export interface Started<Message> {
  /** A message of the host, checked. */
  hear(message: Message): void;
  /** The editor has another theme. */
  redress(): void;
}

/** How messages of the host are read: a schema of zod. */
interface Schema<Message> {
  safeParse(data: unknown): { success: true; data: Message } | { success: false; error: { message: string } };
}

/**
 * Starts a page. What has not the shape of a message goes to the host's log, with a word in the page, and nowhere else.
 * @param make given the place for the page's content, and the one for what is said aloud.
 * @throws Error in a document without these places.
 */
export function startPage<Message>(
  schema: Schema<Message>,
  make: (root: HTMLElement, news: HTMLElement) => Started<Message>,
): void {
  const root = document.querySelector<HTMLElement>('#page');
  const news = document.querySelector<HTMLElement>('#news');
  if (!root || !news) throw new Error('the document has no place for the page');
  const page = make(root, news);
  window.addEventListener('error', ({ message }) => trouble(message));
  window.addEventListener('unhandledrejection', ({ reason }) => trouble(String(reason)));
  window.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const read = schema.safeParse(data);
    if (read.success) return page.hear(read.data);
    trouble(`unreadable message: ${read.error.message}`);
    if (!root.querySelector('.unreadable'))
      root.prepend(element('p', { class: 'notice notice-error unreadable' }, sentWord('unreadable') ?? 'unreadable'));
  });
  onThemeChange(() => page.redress());
  send({ type: 'ready' } satisfies FromEveryPage);
}
