/** Where the run page's script begins: it says that it is ready, and shows what it is told. */
import './no-eval.ts';
import { listen, remember, tell } from './editor.ts';
import { element } from './elements.ts';
import { Page } from './page.ts';
import { onThemeChange } from './theme.ts';
import { learn, word } from './words.ts';

const root = document.querySelector<HTMLElement>('#page');
const news = document.querySelector<HTMLElement>('#news');
if (!root || !news) throw new Error('the document of the run page has no place for it');
const page = new Page(root, news);

function trouble(message: string): void {
  tell({ type: 'trouble', message: message.slice(0, 4000) });
}

window.addEventListener('error', ({ message }) => trouble(message));
window.addEventListener('unhandledrejection', ({ reason }) => trouble(String(reason)));

listen(
  (message) => {
    if (message.type === 'change') return page.change(message);
    learn(message.words);
    remember(message.restore);
    page.show(message.data);
  },
  (why) => {
    trouble(`unreadable message: ${why}`);
    if (!root.querySelector('.unreadable'))
      root.prepend(element('p', { class: 'notice notice-error unreadable' }, word('unreadable')));
  },
);
onThemeChange(() => page.redraw());
tell({ type: 'ready' });
