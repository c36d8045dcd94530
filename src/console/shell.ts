/**
 * The frame around every page of the Console: the menu of what the viewer's role may see, the switch of workspaces, and what the last form
 * did. People who are not signed in, and errors, get a plain page without a menu.
 */
import { markup, type Html } from "../http/html.ts";
import { type Asset, htmlType } from "../http/page.ts";
import {
  consoleHeaders,
  consolePage,
  type Surroundings,
  type NavigationLink,
  type NavigationSection,
  plainPage,
} from "./look/frame.ts";
import type { Notice } from "./look/parts.ts";
import { sentence } from "./page-forms.ts";
import type { Page, PageCall, PageContent, Section } from "./page.ts";
import { pages } from "./pages.ts";
import { saidIn, saidOnceCookie, workspacePath } from "./redirect.ts";
import { roleName, type Viewer, type ViewerRole } from "./viewer.ts";

interface Shell {
  content: PageContent;
  page: Page;
  call: PageCall;
  request: Request;
  status?: number;
  /** Of a page that refreshes itself. */
  tag?: string | null;
}

export function shellResponse({ content, page, call, request, status = 200, tag = null }: Shell): Response {
  const scripts = page.scripts ?? [];
  const said = saidIn(request);
  const { reference = null } = page;
  const shown = { ...content, notice: noticeOf(call, said), scripts, tag, reference };
  const text = consolePage(shown, surroundings(page, call));
  const headers: Record<string, string> = tag === null ? {} : { etag: tag };
  return consoleResponse(text, { status, scripts, headers, cookies: said === null ? [] : [saidOnceCookie(request)] });
}

/** A refused page within the menu of what the viewer may see. */
export function refusalResponse(content: PageContent, { page, ...place }: Framed & { page: Page }): Response {
  return consoleResponse(consolePage({ ...content, notice: null }, surroundings(page, place)), { status: 403 });
}

function noticeOf({ refused, viewer, path }: PageCall, said: Notice | null): Notice | null {
  if (refused !== null && !refused.isShown) return { tone: "bad", words: sentence(refused.message) };
  if (said !== null || viewer.invitations === 0 || path === invitationsPath) return said;
  const count = viewer.invitations === 1 ? "A workspace invites" : `${viewer.invitations} workspaces invite`;
  return {
    tone: "neutral",
    words: markup`${count} you. <a href="${invitationsPath}">See the ${viewer.invitations === 1 ? "invitation" : "invitations"}</a>`,
  };
}

const operatorPath = "/console/operator";
const invitationsPath = "/console/invitations";

interface Answer {
  status?: number;
  scripts?: readonly Asset[];
  cookies?: readonly string[];
  headers?: Record<string, string>;
  /** Whether its scripts call the service, as those of every page with a menu do. */
  connects?: boolean;
}

/** @param scripts of the page, in addition to the Console's own */
function consoleResponse(
  text: string,
  { status = 200, scripts = [], cookies = [], headers: further = {}, connects = true }: Answer,
): Response {
  const headers = new Headers({
    ...consoleHeaders({ scripts, connects }),
    "content-type": htmlType,
    ...further,
  });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(text, { status, headers });
}

/** What the frame needs to know of a call. */
type Framed = Pick<PageCall, "viewer" | "workspace" | "path">;

function surroundings(page: Page, { viewer, workspace, path }: Framed): Surroundings {
  const current = workspace.id === "" ? null : workspace;
  // On the pages of their account, people keep the menu of a workspace. The operator's pages belong to none.
  const shown = current ?? (page.of === "person" ? (viewer.workspaces[0] ?? null) : null);
  const views = viewer.defaultViews.filter((view) => view.workspace === shown?.id);
  const sections = [
    ...(shown === null ? [] : sectionsOf("workspace", { base: workspacePath(shown.name), role: shown.role, path, page, views })),
    ...(viewer.operates ? sectionsOf("operator", { base: operatorPath, role: "operator", path, page, views: [] }) : []),
  ];
  return {
    homePath: "/",
    findPath: shown !== null ? `${workspacePath(shown.name)}/find` : viewer.operates ? `${operatorPath}/find` : null,
    sections,
    place: current?.name ?? null,
    switcher: { action: "/console/switch", current: shown, choices: viewer.workspaces },
    account: accountOf(viewer, current?.role ?? null),
  };
}

function accountOf({ email, theme }: Viewer, role: ViewerRole | null) {
  const words = email === null || role === null ? "" : roleName(role);
  return { name: email ?? "Operator", role: words, path: "/console/account", theme, signOutPath: "/console/sign-out" };
}

interface Place {
  base: string;
  role: ViewerRole;
  /** The path of the shown page. */
  path: string;
  page: Page;
  /** With which it opens lists. */
  views: Viewer["defaultViews"];
}

/** The pages that the role may see. Others have no link, and their address is refused too. */
function sectionsOf(of: Page["of"], { base, role, path, page, views }: Place): NavigationSection[] {
  const links = new Map<Section, NavigationLink[]>();
  for (const one of pages) {
    const { navigation } = one;
    if (one.of !== of || navigation === null || !(role === "operator" || one.roles.includes(role))) continue;
    const address = one.path === "/" ? base : base + one.path;
    const isAbove = one.path !== "/" && path.startsWith(`${address}/`);
    const view = one.list === undefined ? undefined : views.find(({ list }) => list === one.list);
    const opened = view === undefined ? address : `${address}?${view.query}`;
    const link = { path: opened, label: navigation.label, icon: navigation.icon, current: one === page || isAbove };
    links.set(navigation.section, [...(links.get(navigation.section) ?? []), link]);
  }
  return Array.from(links, ([title, all]) => ({ title, links: all }));
}

// A page without navigation: the sign-in, and errors.

interface Plain {
  title: string;
  lead?: string | Html | null;
  notice?: Notice | null;
  main: Html;
}

export function plainResponse(
  page: Plain,
  answer: { status?: number; headers?: Record<string, string>; cookies?: readonly string[] } = {},
): Response {
  return consoleResponse(plainPage(page, "/"), { ...answer, connects: false });
}
