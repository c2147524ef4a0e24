/** What the run page tells its host. */
import type { ToHost } from '../../extension/run-page/messages.ts';
import { send } from '../panel/editor.ts';

export function tell(message: ToHost): void {
  send(message);
}
