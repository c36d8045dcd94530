/** A link that leaves the service. */
import { markup, type Html } from "../html.ts";

/** It sends no referrer. @param url https, as the catalog's schema requires */
export function outward(url: string, text: Html): Html {
  return markup`<a href="${url}" rel="noopener noreferrer" class="outward">${text}</a>`;
}
