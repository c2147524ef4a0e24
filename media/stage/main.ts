/** Where the stage's script begins. */
import '../panel/no-eval.ts';
import { toPageSchema } from '../../extension/replay/stage/messages.ts';
import { remember, send } from '../panel/editor.ts';
import { startPage } from '../panel/start.ts';
import { learn } from '../panel/words.ts';
import { Stage } from './stage.ts';

startPage(toPageSchema, (root, news) => {
  const stage = new Stage(root, news, send);
  return {
    hear: (message) => {
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
    redress: () => stage.redress(),
  };
});
