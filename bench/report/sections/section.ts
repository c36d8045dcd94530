/** A piece of a run's document, which stands in docs/performance.md too. */

export interface Plot {
  /** Its file's name, without the ending. */
  name: string;
  svg: string;
  /** For who cannot see it. */
  alt: string;
}

export interface Section {
  /** Of the marks around its place in docs/performance.md. */
  name: string;
  title: string;
  /** Markdown. */
  text: string;
  plots: Plot[];
}

/** @param pathOf a plot, from where the document stands */
export function bodyOf({ text, plots }: Section, pathOf: (plot: Plot) => string): string {
  return [text, ...plots.map((plot) => `![${plot.alt}](${pathOf(plot)})`)].join("\n\n");
}
