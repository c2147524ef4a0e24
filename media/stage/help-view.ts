/** The keys, in a dialog. */
import { button, element } from '../panel/elements.ts';
import { word } from './words.ts';

export class HelpView {
  readonly element = element('dialog', { id: 'help', 'aria-labelledby': 'title-help' });

  get open(): boolean {
    return this.element.open;
  }

  show(): void {
    const keys: [string[], string][] = [
      [['Space'], word('keySpace')],
      [['←', '→'], word('keyArrows')],
      [['Home', 'End'], word('keyEnds')],
      [['[', ']'], word('keyBrackets')],
      [['L'], word('keyLoop')],
      [['D'], word('keyDetections')],
      [['V'], word('keyView')],
      [['Shift + ← ↑ → ↓'], word('keyTurn')],
      [['+', '-'], word('keyZoom')],
      [['?'], word('keyHelp')],
    ];
    const rows = keys.map(([names, meaning]) =>
      element(
        'tr',
        {},
        element(
          'th',
          { scope: 'row' },
          ...names.flatMap((name, at) => [...(at > 0 ? [' '] : []), element('kbd', {}, name)]),
        ),
        element('td', {}, meaning),
      ),
    );
    const close = button(word('close'), () => this.element.close());
    this.element.replaceChildren(
      element('h2', { id: 'title-help' }, word('help')),
      element('table', {}, element('tbody', {}, ...rows)),
      close,
    );
    this.element.showModal();
    close.focus();
  }
}
