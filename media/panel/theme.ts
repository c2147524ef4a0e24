/** The editor's theme, as far as a canvas has to be told: style sheets know it by themselves. */

export interface Theme {
  foreground: string;
  background: string;
  grid: string;
  /** Of curves, in their order. */
  curves: string[];
  font: string;
}

/** Colours by CSS variables of the editor; what a theme leaves out has a colour that shows on light and dark. */
export function currentTheme(): Theme {
  const style = getComputedStyle(document.body);
  const colour = (fallback: string, ...names: string[]) =>
    names.map((name) => style.getPropertyValue(name).trim()).find((value) => value !== '') ?? fallback;
  const contrast = /\bvscode-high-contrast\b/.test(document.body.className);
  return {
    foreground: colour('#808080', '--vscode-editor-foreground', '--vscode-foreground'),
    background: colour('#ffffff', '--vscode-editor-background'),
    // Behind the curves, in every theme; more of it where a person needs more.
    grid: contrast ? '#808080a0' : '#80808048',
    curves: [
      colour('#1a85ff', '--vscode-charts-blue'),
      colour('#d18616', '--vscode-charts-orange'),
      colour('#388a34', '--vscode-charts-green'),
      colour('#b180d7', '--vscode-charts-purple'),
    ],
    font: `12px ${style.fontFamily || 'sans-serif'}`,
  };
}

/** Calls back when the editor changes its theme. */
export function onThemeChange(callback: () => void): void {
  new MutationObserver(callback).observe(document.body, { attributes: true, attributeFilter: ['class'] });
}
