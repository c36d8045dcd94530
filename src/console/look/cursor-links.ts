/** Links to the next and to the first rows of a list that is read by a cursor. */
import { markup, type Html } from "../../http/html.ts";

/** @param shown such as "50 requests"; null addresses are left out, and without any there is no line */
export function cursorLinks({
  shown,
  firstPath,
  nextPath,
}: {
  shown: string;
  firstPath: string | null;
  nextPath: string | null;
}): Html | null {
  if (firstPath === null && nextPath === null) return null;
  return markup`<nav class="pages" aria-label="Pages">
    <p>${shown}</p>
    ${firstPath === null ? null : markup`<a class="button quiet" href="${firstPath}" rel="first">Back to the first</a>`}
    ${nextPath === null ? null : markup`<a class="button quiet" href="${nextPath}" rel="next">Next</a>`}
  </nav>`;
}
