/** The few numbers that a page begins with. */
import { markup, type Html } from "../../http/html.ts";
import { content, type Content } from "./user-text.ts";

export interface Tile {
  label: string;
  value: Content;
  note?: Content | null;
  /** Below the value: a meter or a sparkline. */
  drawing?: Html | null;
  /** Where the number comes from. */
  path?: string;
}

export function tiles(all: readonly Tile[]): Html {
  return markup`<dl class="tiles">${all.map(tile)}</dl>`;
}

function tile({ label, value, note = null, drawing = null, path }: Tile): Html {
  return markup`<div>
    <dt>${path === undefined ? label : markup`<a href="${path}">${label}</a>`}</dt>
    <dd class="value">${content(value)}</dd>
    ${drawing === null ? null : markup`<dd>${drawing}</dd>`}${note === null ? null : markup`<dd class="under">${content(note)}</dd>`}
  </div>`;
}
