/** Links to the other pages of a list: the first, the last, and those around the current one. */
import { markup, type Html } from "../../http/html.ts";

/** Pages on either side of the current one that have their own link. */
const around = 1;

type AddressOf = (page: number) => string;

/** @param addressOf maps a page's number, from 1, to its address */
export function pagination(present: number, last: number, addressOf: AddressOf): Html | null {
  if (last < 2) return null;
  return markup`<nav class="pages" aria-label="Pages">
    <ul>
      ${present > 1 ? step("Previous", addressOf(present - 1)) : null}
      ${shownPages(present, last).map((page) => numbered(page, present, addressOf))}
      ${present < last ? step("Next", addressOf(present + 1)) : null}
    </ul>
  </nav>`;
}

function step(word: "Previous" | "Next", address: string): Html {
  return markup`<li>
    <a href="${address}" rel="${word === "Next" ? "next" : "prev"}">${word}<span class="unseen"> page</span></a>
  </li>`;
}

function numbered(page: number | "gap", present: number, addressOf: AddressOf): Html {
  if (page === "gap") return markup`<li class="gap" aria-hidden="true">…</li>`;
  const current = page === present ? markup` aria-current="page"` : null;
  return markup`<li><a href="${addressOf(page)}"${current}><span class="unseen">Page </span>${page}</a></li>`;
}

/** In order, with gaps for omitted pages. */
function shownPages(present: number, last: number): (number | "gap")[] {
  const shown: (number | "gap")[] = [];
  for (let page = 1; page <= last; page++) {
    if (page === 1 || page === last || Math.abs(page - present) <= around) shown.push(page);
    else if (shown.at(-1) !== "gap") shown.push("gap");
  }
  return shown;
}
