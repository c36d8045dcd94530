/** The stylesheets and the scripts of the catalog's pages. */
import { asset, pageStyle, type Asset } from "../../http/pages/asset.ts";

/** `search` may send its form to this service; what is typed into the form of `set-up` may be sent nowhere. */
export type PageKind = "search" | "set-up";

const own = (file: string): URL => new URL(file, import.meta.url);

export const styles: Record<PageKind, Asset> = {
  search: asset("style", [pageStyle, own("catalog.css")]),
  "set-up": asset("style", [pageStyle, own("set-up.css")]),
};

export const scripts: Record<PageKind, Asset[]> = {
  search: [asset("script", [own("catalog.js")])],
  "set-up": [asset("script", [own("set-up.js")])],
};
