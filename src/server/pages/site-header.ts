/** What the front door and the reference share: the bar with links to the public pages, their style, and the script that copies. */
import { markup, type Html } from "../../http/html.ts";
import { asset, pageStyle, type Asset, pageHeader } from "../../http/page.ts";

export const referencePath = "/reference";
export const connectorsPath = "/connectors";
export const signInPath = "/console/sign-in";

/** For `copyButton`. */
export const copyScript = asset("script", [new URL("copy.js", import.meta.url)]);

/** @param consoleOn whether the Console is served, so that a person can sign in */
export function siteHeader({ words, consoleOn }: { words: string; consoleOn: boolean }): Html {
  const links: [path: string, label: string][] = [
    [connectorsPath, "Connectors"],
    [referencePath, "API reference"],
    ...(consoleOn ? [[signInPath, "Sign in"] satisfies [string, string]] : []),
  ];
  const navigation = markup`<ul class="site">
    ${links.map(([path, label]) => markup`<li><a href="${path}">${label}</a></li>`)}
  </ul>`;
  return pageHeader({ home: { path: "/", words }, navigation });
}

/** @param file of the page itself, after the style of all pages and that of the bar */
export function siteStyle(file: URL): Asset {
  return asset("style", [pageStyle, new URL("site.css", import.meta.url), file]);
}
