/** Views of one page, each with its own address. */
import { markup, type Html } from "../../http/html.ts";

export interface Tab {
  path: string;
  label: string;
  /** Beside the label; null where counting would cost too much. */
  count: number | null;
  current: boolean;
}

export function tabs(name: string, views: readonly Tab[]): Html {
  const items = views.map(
    ({ path, label, count, current }) =>
      markup`<li><a href="${path}"${current ? markup` aria-current="page"` : null}>${label}${count === null ? null : markup` <span class="count">${count}</span>`}</a></li>`,
  );
  return markup`<nav class="tabs" aria-label="${name}"><ul role="list">${items}</ul></nav>`;
}
