/** A page without navigation: the sign-in, and errors. */
import { markup, type Html } from "../http/html.ts";
import type { Asset } from "../http/pages/asset.ts";
import { pageDocument } from "../http/pages/page-document.ts";
import { pageHeader } from "../http/pages/page-header.ts";
import { consoleResponse, consoleStyle } from "./shell.ts";

interface Plain {
  title: string;
  main: Html;
  scripts?: readonly Asset[];
}

export function plainResponse(
  { title, main, scripts = [] }: Plain,
  { status = 200, headers = {}, cookies = [] }: { status?: number; headers?: Record<string, string>; cookies?: readonly string[] } = {},
): Response {
  const text = pageDocument({
    title: `${title} · Weir`,
    style: consoleStyle,
    scripts,
    header: pageHeader({ home: { path: "/", words: "" }, navigation: null }),
    main: markup`<div class="plain"><h1>${title}</h1>${main}</div>`,
    footer: null,
  });
  const response = consoleResponse(text, { status, scripts, cookies });
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
