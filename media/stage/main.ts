/** Where the stage's script begins: it says that it is ready, and shows what it is told. */
import '../run-page/no-eval.ts';
import { element } from '../run-page/elements.ts';
import { onThemeChange } from '../run-page/theme.ts';
import { listen, remember, tell } from './editor.ts';
import { Stage } from './stage.ts';
import { learn, word } from './words.ts';

const root = document.querySelector<HTMLElement>('#page');
const news = document.querySelector<HTMLElement>('#news');
if (!root || !news) throw new Error('the document of the stage has no place for it');
const stage = new Stage(root, news, tell);

function trouble(message: string): void {
  tell({ type: 'trouble', message: message.slice(0, 4000) });
}

window.addEventListener('error', ({ message }) => trouble(message));
window.addEventListener('unhandledrejection', ({ reason }) => trouble(String(reason)));

listen(
  (message) => {
    switch (message.type) {
      case 'snapshot':
        learn(message.words);
        remember(message.restore);
        return stage.show(message.episode, message.position);
      case 'position':
        remember(message.restore);
        return stage.moved(message.episode, message.position);
      case 'scene':
        return stage.tookScene(message.episode, message.scene, message.problem);
      case 'image':
        return void stage.tookImage(message);
      case 'refused':
        return stage.refused(message.message);
    }
  },
  (why) => {
    trouble(`unreadable message: ${why}`);
    if (!root.querySelector('.unreadable'))
      root.prepend(element('p', { class: 'notice notice-error unreadable' }, word('unreadable')));
  },
);
onThemeChange(() => stage.redress());
tell({ type: 'ready' });
