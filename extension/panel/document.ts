/** The page's HTML: a frame without content and without words; its script fills it from what the host sends. */

export interface PageFiles {
  /** Addresses of the script and of the style sheet, as a webview may load them. */
  script: string;
  style: string;
  /** Source that styles may come from, as CSP names it. */
  source: string;
  /** Made anew for every page; only the script that carries it runs. */
  nonce: string;
  title: string;
  /** Of the words, for the reader's screen reader: `en`. */
  language: string;
}

/** Nothing is fetched but the style sheet, nothing runs but our script, and no text becomes code. */
export function pageDocument({ script, style, source, nonce, title, language }: PageFiles): string {
  const policy = [
    "default-src 'none'",
    `style-src ${source}`,
    `script-src 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${escaped(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${escaped(style)}">
</head>
<body>
<main id="page" tabindex="-1"></main>
<div id="news" role="status" aria-live="polite"></div>
<script type="module" nonce="${escaped(nonce)}" src="${escaped(script)}"></script>
</body>
</html>
`;
}

function escaped(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replaceAll(/[&<>"']/g, (letter) => names[letter]);
}
