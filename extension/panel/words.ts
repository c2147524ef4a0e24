/** Words of pages: the host fetches them in the reader's language, the page puts values in. */

/** What words are fetched with: `l10n` of VS Code, which knows the language. */
export interface Language {
  t(text: string): string;
}

/** A text with its `{0}`, `{1}` filled in. What is put in is not looked at for further gaps. */
export function fill(text: string, ...values: (string | number)[]): string {
  return text.replaceAll(/\{(\d)\}/g, (gap, place: string) => String(values[Number(place)] ?? gap));
}
