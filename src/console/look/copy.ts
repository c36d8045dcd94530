/** Buttons that copy text, shown only where a script can copy. */
import { markup, type Html } from "../../http/html.ts";

/** @param copies the id of the element or the field whose text is copied */
export function copyButton({ copies, label, what }: { copies: string; label: string; what?: string }): Html {
  const unseen = what === undefined ? null : markup`<span class="unseen"> ${what}</span>`;
  return markup`<button type="button" class="quiet small" data-copies="${copies}" hidden><span>${label}</span>${unseen}</button>`;
}

/** A line that can be selected and copied, such as a key that is shown once. */
export function copyField({ id, label, value }: { id: string; label: string; value: string }): Html {
  return markup`<div class="field">
    <label for="${id}">${label}</label>
    <div class="entry"><input id="${id}" class="code" type="text" value="${value}" readonly autocomplete="off" spellcheck="false" />${copyButton({ copies: id, label: "Copy", what: label })}</div>
  </div>`;
}
