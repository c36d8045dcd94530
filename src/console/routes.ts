/** /console: from a request to a page, a sign-in or an error in words. */
import { DomainError } from "../accounts/errors.ts";
import { laneOf, memberLane, type Lane } from "../accounts/quotas/lane.ts";
import { requireSameOrigin } from "../accounts/sessions/browser.ts";
import { findWorkspace } from "../accounts/workspaces/workspaces.ts";
import { Router, type RouteContext, type Routes, requestTarget } from "../http/router.ts";
import { withDeadline } from "../kernel/clock.ts";
import { consoleDoors, type ConsoleDoors } from "./doors.ts";
import { errorPage } from "./error-page.ts";
import { findPage, type FoundPage } from "./find-page.ts";
import { receiveForm } from "./form.ts";
import { pageDeadlineMs } from "./limits.ts";
import { pageCall } from "./page-call.ts";
import type { HereWorkspace } from "./page.ts";
import { pages } from "./pages.ts";
import type { ConsoleParts } from "./parts.ts";
import { seeOther, workspacePath } from "./redirect.ts";
import { requireRole, showPage } from "./show-page.ts";
import { signInAnswer } from "./sign-in/answer.ts";
import { findViewer, isOperator, type Viewer } from "./viewer.ts";

const prefix = "/console";

export function consoleRoutes(parts: ConsoleParts): Routes {
  const { clock } = parts.control;
  const router = new Router({ clock });
  const doors = consoleDoors(clock);
  const handle = (context: RouteContext) => answer(context, doors, parts);
  const writeError = (error: unknown, { request }: RouteContext) => errorPage(error, request, parts);
  for (const path of [prefix, `${prefix}/*`]) router.add({ path, methods: ["GET", "HEAD", "POST"], handle, writeError });
  return router.app;
}

async function answer({ request, server }: RouteContext, doors: ConsoleDoors, parts: ConsoleParts): Promise<Response> {
  const { path: whole, query } = requestTarget(request);
  const path = whole.slice(prefix.length).replace(/\/$/, "") || "/";
  if (request.method === "POST") requireSameOrigin(request);
  const address = parts.control.proxies.clientOf(request, server);
  const viewer = await findViewer(request, parts.control);
  const signIn = await signInAnswer({ request, path, query, address, viewer, door: doors.signIns }, parts);
  if (signIn !== null) return signIn;
  if (viewer === null) return signedOut(request);
  if (path === "/") return seeOther(startOf(viewer));
  if (path === "/switch") return switched(query, viewer);
  const found = findPage(path, pages);
  if (found === null) throw new DomainError("not_found", "There is no such page in the Console");
  const workspace = await workspaceOf(found, viewer, parts);
  requireRole(found.page, { workspace, viewer });
  const lane = await laneFor(viewer, workspace, parts);
  const door = found.page.formBytesMax === undefined ? doors.forms : parts.control.files;
  const received = { door: door.bodies, lane, bytesMax: found.page.formBytesMax };
  using body = request.method === "POST" ? await receiveForm(request, received) : null;
  using turn = await (body === null ? doors.pages : door.turns).take(lane);
  const place = { viewer, workspace, query, path: whole, params: found.params, base: found.base };
  const call = pageCall({ ...place, request, turn }, parts);
  const work = turn.keepFor(showPage({ page: found.page, call, request, form: (await body?.read()) ?? null }));
  return await withDeadline(parts.control.clock, found.page.deadlineMs ?? pageDeadlineMs, "The page", work);
}

/** Of a page of a workspace it is that workspace, of which the viewer was found to be a member. */
async function laneFor({ email, principal }: Viewer, { id }: HereWorkspace, { control }: ConsoleParts): Promise<Lane> {
  return email === null || id === "" ? laneOf(principal, null, control.sql) : memberLane(email, id);
}

/** The first page after signing in. */
function startOf(viewer: Viewer): string {
  const [first] = viewer.workspaces;
  if (isOperator(viewer)) return `${prefix}/operator`;
  if (first) return workspacePath(first.name);
  return viewer.invitations > 0 ? `${prefix}/invitations` : `${prefix}/account`;
}

/** The form of the navigation that chooses another workspace. */
function switched(query: URLSearchParams, viewer: Viewer): Response {
  const chosen = viewer.workspaces.find(({ id }) => id === query.get("workspace"));
  return seeOther(chosen ? workspacePath(chosen.name) : startOf(viewer));
}

/** A page leads to the sign-in and back; a form is lost with its session, and says so. */
function signedOut(request: Request): Response {
  if (request.method === "POST")
    throw new DomainError("unauthorized", "Your session has ended, and nothing was changed: sign in again");
  const { path, query } = requestTarget(request);
  const next = query.size === 0 ? path : `${path}?${query.toString()}`;
  return seeOther(path === prefix ? `${prefix}/sign-in` : `${prefix}/sign-in?next=${encodeURIComponent(next)}`);
}

/** @throws DomainError not_found, also for a workspace in which the viewer has no role */
async function workspaceOf({ workspace: named }: FoundPage, viewer: Viewer, { control }: ConsoleParts): Promise<HereWorkspace> {
  if (named === null) return { id: "", name: "", role: isOperator(viewer) ? "operator" : "member" };
  const own = viewer.workspaces.find(({ id, name }) => name === named || id === named);
  if (own) return own;
  if (isOperator(viewer)) {
    const { id, name } = await findWorkspace(named, control);
    return { id, name, role: "operator" };
  }
  throw new DomainError("not_found", `There is no workspace "${named.slice(0, 100)}" in which you are a member`);
}
