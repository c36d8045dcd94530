/** The icon of every page: three steps of water over a dam. */

import { markup, trusted } from "../html.ts";

const drawing = "M1 4h6q2 0 2 4t2 4h4M1 8h4q2 0 2 4";

/** Beside the name of the service; page.css gives its size and colour. */
export const iconMark = markup`<svg class="mark-of-weir" viewBox="0 0 16 16" aria-hidden="true"><path d="${trusted(drawing)}" /></svg>`;

/** A document of its own, for browsers that show no page. */
export const iconSvg = [
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>",
  `<path fill='none' stroke='#0b6e8f' stroke-width='2' stroke-linecap='round' d='${drawing}'/></svg>`,
].join("");

/** The icon inside a page, so that a page is one request. */
export const iconAddress = `data:image/svg+xml,${iconSvg.replaceAll(/[<>#]/g, encodeURIComponent)}`;
