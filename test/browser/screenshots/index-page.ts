/** All screenshots on one page. */
import { markup } from "../../../src/http/html.ts";

export interface Shot {
  path: string;
  /** Of the document. */
  title: string;
  files: readonly string[];
  /** Errors of the page, and requests to other hosts. */
  faults: readonly string[];
}

export function indexPage(shots: readonly Shot[]): string {
  const sections = shots.map(
    ({ path, title, files, faults }) => markup`<section><h2>${title}</h2><p><code>${path}</code></p>
      ${faults.map((fault) => markup`<p role="alert">${fault}</p>`)}
      <div>${files.map((file) => markup`<a href="${file}"><img src="${file}" alt="${file}" loading="lazy" /></a>`)}</div></section>`,
  );
  return String(markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8" /><title>Screenshots</title><style>
body { font-family: system-ui, sans-serif; margin: 2rem; background: #eee; }
div { display: flex; gap: 1rem; align-items: flex-start; overflow-x: auto; }
img { height: 30rem; width: auto; object-fit: cover; object-position: top; border: 1px solid #999; }
</style></head><body><h1>Screenshots</h1>${sections}</body></html>`);
}
