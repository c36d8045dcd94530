/** The bar above a page's content: the name of the service, which leads to the start, and links. */
import { markup, type Html } from "../html.ts";
import { iconMark } from "./icon.ts";

export interface PageHeader {
  home: { path: string; words: string };
  /** Beside the name, such as a list of links; null for none. */
  navigation: Html | null;
}

export function pageHeader({ home, navigation }: PageHeader): Html {
  return markup`<header class="top">
    <nav aria-label="Site">
      <a class="home" href="${home.path}">${iconMark}<strong>Weir</strong> ${home.words}</a>
      ${navigation}
    </nav>
  </header>`;
}
