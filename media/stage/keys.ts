/** Which key does what. A key that a control has a use for is left to it. */

export type Deed =
  | 'play'
  | 'back'
  | 'on'
  | 'first'
  | 'last'
  | 'slower'
  | 'faster'
  | 'loop'
  | 'detections'
  | 'view'
  | 'help'
  | 'turn-left'
  | 'turn-right'
  | 'turn-up'
  | 'turn-down'
  | 'nearer'
  | 'further'
  | { to: number };

const KEYS: Record<string, Deed> = {
  ' ': 'play',
  ArrowLeft: 'back',
  ArrowRight: 'on',
  Home: 'first',
  End: 'last',
  '[': 'slower',
  ']': 'faster',
  l: 'loop',
  d: 'detections',
  v: 'view',
  '?': 'help',
  '+': 'nearer',
  '=': 'nearer',
  '-': 'further',
};
const TURNS: Record<string, Deed> = {
  ArrowLeft: 'turn-left',
  ArrowRight: 'turn-right',
  ArrowUp: 'turn-up',
  ArrowDown: 'turn-down',
};
/** Keys that a focused control uses itself. */
const OWN: Record<string, RegExp> = {
  BUTTON: /^(?: |Enter)$/,
  SUMMARY: /^(?: |Enter)$/,
  SELECT: /^(?: |Arrow.*|Home|End|.)$/,
  INPUT: /^(?: |Arrow.*|Home|End|Page.*)$/,
};

/** What a key press asks for; undefined when it is not for the stage. */
export function deedOf({ key, shiftKey, ctrlKey, metaKey, altKey, target }: KeyboardEvent): Deed | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  const name = target instanceof HTMLElement ? target.tagName : '';
  if (OWN[name]?.test(key)) return undefined;
  // A region that scrolls sideways keeps its arrows.
  if (target instanceof HTMLElement && target.classList.contains('scroll') && /^(?:Arrow|Home|End| )/.test(key))
    return undefined;
  if (shiftKey && Object.hasOwn(TURNS, key)) return TURNS[key];
  const plain = key.length === 1 ? key.toLowerCase() : key;
  return Object.hasOwn(KEYS, plain) ? KEYS[plain] : undefined;
}
