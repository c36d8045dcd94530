/** The stylesheets and the script of the catalog's pages. */
import { asset, pageStyle, type Asset } from "../../http/pages/asset.ts";

/** `search` may send its form to this service; `set-up` runs a script, and typed text may be sent nowhere. */
export type PageKind = "search" | "set-up";

const own = (file: string): URL => new URL(file, import.meta.url);

export const styles: Record<PageKind, Asset> = {
  search: asset("style", [pageStyle, own("catalog.css")]),
  "set-up": asset("style", [pageStyle, own("set-up.css")]),
};

export const scripts: Record<PageKind, Asset[]> = {
  search: [],
  "set-up": [asset("script", [own("set-up.js")])],
};
