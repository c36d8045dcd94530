/** One thing's properties, each with its name. */
import { markup, type Html } from "../../http/html.ts";
import { content, type Content } from "./user-text.ts";

/** null shows a dash. */
export function facts(all: readonly (readonly [name: string, value: Content | null])[]): Html {
  const rows = all.map(
    ([name, value]) =>
      markup`<div><dt>${name}</dt><dd>${value === null ? markup`<span class="none">–</span>` : content(value)}</dd></div>`,
  );
  return markup`<dl class="facts">${rows}</dl>`;
}
