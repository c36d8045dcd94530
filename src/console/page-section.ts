/** A part of a page under its own heading. */
import { markup, type Html } from "../http/html.ts";

export function pageSection(id: string, title: string, body: Html): Html {
  return markup`<section aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${body}</section>`;
}
