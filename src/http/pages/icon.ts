/** The icon of every page: three steps of water over a dam. */

/** A document of its own, for browsers that show no page. */
export const iconSvg = [
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>",
  "<path fill='none' stroke='#0b6e8f' stroke-width='2' stroke-linecap='round' d='M1 4h6q2 0 2 4t2 4h4M1 8h4q2 0 2 4'/></svg>",
].join("");

/** The icon inside a page, so that a page is one request. */
export const iconAddress = `data:image/svg+xml,${iconSvg.replaceAll(/[<>#]/g, encodeURIComponent)}`;
