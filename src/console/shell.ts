/** The frame around every page of the Console: navigation by role, the switch of workspaces, and what the last form did. */
import { markup, type Html } from "../http/html.ts";
import { asset, pageStyle, type Asset } from "../http/pages/asset.ts";
import { htmlType, pageDocument } from "../http/pages/page-document.ts";
import { pageHeaders } from "../http/pages/page-headers.ts";
import type { Page, PageCall, PageContent } from "./page.ts";
import { pages } from "./pages.ts";
import { saidIn, saidOnceCookie } from "./redirect.ts";

export const consoleStyle = asset("style", [pageStyle]);
export const consoleScript: Asset | null = null;

interface Shell {
  content: PageContent;
  page: Page;
  call: PageCall;
  request: Request;
  status?: number;
}

export function shellResponse({ content, page, call, request, status = 200 }: Shell): Response {
  const scripts = page.scripts ?? [];
  const said = saidIn(request);
  const main = markup`${said === null ? null : markup`<p role="status">${said}</p>`}<h1>${content.title}</h1>${content.lead ?? null}${content.actions ?? null}${content.main}`;
  const text = pageDocument({
    title: `${content.title} · Weir`,
    style: consoleStyle,
    scripts,
    header: header(page, call),
    main,
    footer: null,
  });
  return consoleResponse(text, { status, scripts, cookies: said === null ? [] : [saidOnceCookie(request)] });
}

export function consoleResponse(
  text: string,
  { status = 200, scripts = [], cookies = [] }: { status?: number; scripts?: readonly Asset[]; cookies?: readonly string[] },
): Response {
  const policy = pageHeaders({ style: consoleStyle, scripts, forms: "self", connects: scripts.length > 0 });
  const headers = new Headers({ ...policy, "content-type": htmlType, "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(text, { status, headers });
}

function header(page: Page, call: PageCall): Html {
  const links = pages.filter(({ navigation, of }) => navigation !== null && of === page.of);
  return markup`<nav aria-label="Console">${links.map(({ path, navigation }) => markup`<a href="${call.link(path)}">${navigation?.label ?? ""}</a> `)}</nav>`;
}
