/** A section of a run's document, which is also published in docs: see publish.ts. */

export interface Plot {
  /** The file's name, without the extension. */
  name: string;
  svg: string;
  /** The text alternative. */
  alt: string;
}

export interface Section {
  /** The name in the marks around its place in docs. */
  name: string;
  title: string;
  /** In Markdown. */
  text: string;
  plots: Plot[];
}

/** @param pathOf returns a plot's path, relative to the document */
export function bodyOf({ text, plots }: Section, pathOf: (plot: Plot) => string): string {
  return [text, ...plots.map((plot) => `![${plot.alt}](${pathOf(plot)})`)].join("\n\n");
}
