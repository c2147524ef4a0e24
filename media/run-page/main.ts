/** Where the run page's script begins. */
import '../panel/no-eval.ts';
import { toPageSchema } from '../../extension/run-page/messages.ts';
import { remember } from '../panel/editor.ts';
import { startPage } from '../panel/start.ts';
import { learn } from '../panel/words.ts';
import { Page } from './page.ts';

startPage(toPageSchema, (root, news) => {
  const page = new Page(root, news);
  return {
    hear: (message) => {
      if (message.type === 'change') return page.change(message);
      learn(message.words);
      remember(message.restore);
      page.show(message.data);
    },
    redress: () => page.redraw(),
  };
});
