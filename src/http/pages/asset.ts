/** Stylesheets and scripts, inlined in their pages: a page is one request, which also works during a rolling restart. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { trusted, type Html } from "../html.ts";

export interface Asset {
  element: Html;
  /** As Content-Security-Policy names it: the digest of exactly the text between the tags. */
  hash: string;
}

/** The type scale, the colours and the fields that all pages share; the first file of every style. */
export const pageStyle = new URL("page.css", import.meta.url);

/**
 * Several files become one element, in their order.
 * @param files this service's own: what they hold is not escaped
 * @throws when a file cannot be read, thus at the start of the process
 */
export function asset(name: "style" | "script", files: readonly URL[]): Asset {
  const whole = files.map((file) => readFileSync(file, "utf8")).join("\n");
  // A quarter of a stylesheet is indentation, ends of lines and comments, which only its authors read; in a script they may be part of a text.
  const text =
    name === "style"
      ? withoutComments(whole)
          .replaceAll(/^\s+/gm, "")
          .replaceAll(/([,:;{}])\n/g, "$1")
      : whole;
  const hash = createHash("sha256").update(text).digest("base64");
  return { element: trusted(`<${name}>${text}</${name}>`), hash: `'sha256-${hash}'` };
}

function withoutComments(style: string): string {
  const [first = "", ...others] = style.split("/*");
  return first + others.map((part) => part.slice(part.indexOf("*/") + 2)).join("");
}
