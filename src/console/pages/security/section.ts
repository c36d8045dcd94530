import { markup, type Html } from "../../../http/html.ts";

/** A part of a page under its heading. @param id unique on the page */
export function section(id: string, title: string, body: Html): Html {
  return markup`<section aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${body}</section>`;
}
