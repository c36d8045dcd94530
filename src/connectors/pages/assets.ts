/** The stylesheets and the script, inlined in the pages: a page is one request, which also works during a rolling restart. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { trusted, type Html } from "../../http/html.ts";

/** `search` may send its form to this service; `set-up` runs a script, and typed text may be sent nowhere. */
export type PageKind = "search" | "set-up";

export interface Asset {
  element: Html;
  /** As Content-Security-Policy names it: the digest of exactly the text between the tags. */
  hash: string;
}

export const styles: Record<PageKind, Asset> = {
  search: asset("style", ["page.css", "catalog.css"]),
  "set-up": asset("style", ["page.css", "set-up.css"]),
};

export const setUpScript = asset("script", ["set-up.js"]);

function asset(name: "style" | "script", files: string[]): Asset {
  const text = files.map((file) => readFileSync(new URL(file, import.meta.url), "utf8")).join("\n");
  const hash = createHash("sha256").update(text).digest("base64");
  return { element: trusted(`<${name}>${text}</${name}>`), hash: `'sha256-${hash}'` };
}
