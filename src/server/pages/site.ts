/**
 * What the front door and the reference share: the bar with links to the public pages, their style, the script that copies, the service's
 * address, and prose of the OpenAPI document as HTML. An invalid Host header is never shown as an address.
 */
import { copyButton } from "../../console/look/parts.ts";
import { markup, type Html } from "../../http/html.ts";
import { asset, pageStyle, type Asset, pageHeader } from "../../http/page.ts";

export const referencePath = "/reference";
export const connectorsPath = "/connectors";
/** It leads to a person's workspace, or to the sign-in. Public pages do not know whether anyone is signed in. */
export const consolePath = "/console";

/** The script of copy buttons, which also shows the address that the browser used. */
export const copyScript = asset("script", [new URL("copy.js", import.meta.url)]);

/** @param consoleOn whether the Console is served */
export function siteHeader({ words, consoleOn }: { words: string; consoleOn: boolean }): Html {
  const links: [path: string, label: string][] = [
    [connectorsPath, "Connectors"],
    [referencePath, "API reference"],
    ...(consoleOn ? [[consolePath, "Console"] satisfies [string, string]] : []),
  ];
  const navigation = markup`<ul class="site">
    ${links.map(([path, label]) => markup`<li><a href="${path}">${label}</a></li>`)}
  </ul>`;
  return pageHeader({ home: { path: "/", words }, navigation });
}

/** @param file the page's own style, after that of all pages */
export function siteStyle(file: URL): Asset {
  return asset("style", [pageStyle, file]);
}

/** A valid Host header. */
const hostPattern = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * @param publicOrigin the address that PUBLIC_URL names, which takes precedence over the Host; null: it is not set
 * @returns such as `https://weir.example.com`; null: the Host is missing or is not a host
 */
export function serviceOrigin({ headers, url }: Request, publicOrigin: string | null): string | null {
  if (publicOrigin !== null) return publicOrigin;
  const host = headers.get("host") ?? "";
  if (!hostPattern.test(host)) return null;
  // A proxy that terminates TLS says so here. It only affects what the sender itself reads.
  const secure = headers.get("x-forwarded-proto") === "https" || url.startsWith("https:");
  return `${secure ? "https" : "http"}://${host}`;
}

/** Sentences of the OpenAPI document as HTML: text between backticks becomes code. */
export function prose(text: string): Html {
  const pieces = text.split("`");
  return markup`${pieces.map((piece, index) => (index % 2 === 1 ? markup`<code>${piece}</code>` : markup`${piece}`))}`;
}

/** A term with its definition, within a list of class `answers`. */
export function definition({ id, term, words }: { id?: string; term: string | Html; words: Html }): Html {
  return markup`<div${id === undefined ? null : markup` id="${id}"`}><dt>${term}</dt><dd>${words}</dd></div>`;
}

/** The parts with a separator between them, and another one before the last. */
export function joined(parts: readonly Html[], between = ", ", last = between): Html {
  const separator = (index: number): string => (index === 0 ? "" : index === parts.length - 1 ? last : between);
  return markup`${parts.map((part, index) => markup`${separator(index)}${part}`)}`;
}

/**
 * Code to copy: a button in its corner, shown where a script can copy. @param id unique on the page @param what its name for screen
 * readers, after "Copy"
 */
export function codeBlock({ id, what, code }: { id: string; what: string; code: string | Html }): Html {
  return markup`<div class="code-block"><pre><code id="${id}">${code}</code></pre>${copyButton({ copies: id, label: "Copy", what })}</div>`;
}
