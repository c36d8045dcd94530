/** Code to copy: a button in its corner, shown where a script can copy. */
import { copyButton } from "../../../console/look/copy.ts";
import { markup, type Html } from "../../../http/html.ts";

/** @param id unique on the page @param what names it to screen readers, after "Copy" */
export function codeBlock({ id, what, code }: { id: string; what: string; code: string }): Html {
  return markup`<div class="code-block"><pre><code id="${id}">${code}</code></pre>${copyButton({ copies: id, label: "Copy", what })}</div>`;
}
