/** Dialogs, which a script opens; without one, their opener leads to a page with the same contents. */
import { markup, type Html } from "../../http/html.ts";

export interface Dialog {
  id: string;
  title: string;
  body: Html;
  /** `changes`: Escape asks once something was typed. `always`: it asks, since what is shown is shown once. */
  asks: "changes" | "always" | null;
  /** Shown as soon as the page is; without a script within the page. */
  opensAtOnce?: boolean;
  /** The page that the script shows once it is closed. */
  thenPath?: string;
}

/** A click beside it does nothing. */
export function dialog({ id, title, body, asks, opensAtOnce = false, thenPath }: Dialog): Html {
  return markup`<dialog id="${id}" aria-labelledby="${id}-title"${asks === null ? null : markup` data-asks="${asks}"`}${opensAtOnce ? markup` open data-at-once` : null}${thenPath === undefined ? null : markup` data-then="${thenPath}"`}>
    <div class="dialog-head">
      <h2 id="${id}-title">${title}</h2>
      ${asks === "always" ? null : markup`<button type="button" class="quiet small" data-closes aria-label="Close">✕</button>`}
    </div>
    ${body}
  </dialog>`;
}

/** @param path the page with the same contents */
export function opener({
  dialog,
  path,
  label,
  quiet = false,
}: {
  dialog: string;
  path: string;
  label: string;
  quiet?: boolean;
}): Html {
  return markup`<a class="button${quiet ? " quiet" : ""}" href="${path}" data-opens="${dialog}">${label}</a>`;
}

/** Closes the dialog around it, also without a script. */
export function closeButton(label: string): Html {
  return markup`<form method="dialog" class="form-end"><button type="submit" data-agrees>${label}</button></form>`;
}
