/** /console: from a request to a page, a sign-in or an error in words. */
import { DomainError } from "../accounts/errors.ts";
import { FairSemaphore } from "../accounts/quotas/fair-semaphore.ts";
import { requireSameOrigin } from "../accounts/sessions/same-origin.ts";
import { findWorkspace } from "../accounts/workspaces/find.ts";
import { Router, type RouteContext, type Routes } from "../http/router.ts";
import { requestTarget } from "../http/request-target.ts";
import { errorPage } from "./error-page.ts";
import { findPage, type FoundPage } from "./find-page.ts";
import {
  fileFormMs,
  fileFormsAtOnceMax,
  formsAtOnceMax,
  formsPerPersonMax,
  pagesAtOnceMax,
  pagesPerPersonMax,
  pagesWaitingMax,
  pagesWaitingPerPersonMax,
  pageWaitMs,
} from "./limits.ts";
import { pageCall } from "./page-call.ts";
import type { HereWorkspace } from "./page.ts";
import { pages } from "./pages.ts";
import type { ConsoleParts } from "./parts.ts";
import { seeOther, workspacePath } from "./redirect.ts";
import { showPage } from "./show-page.ts";
import { signInAnswer } from "./sign-in/answer.ts";
import { findViewer, isOperator, type Viewer } from "./viewer.ts";

const prefix = "/console";

const limits = {
  runningMax: pagesAtOnceMax,
  runningPerHolderMax: pagesPerPersonMax,
  waitingMax: pagesWaitingMax,
  waitingPerHolderMax: pagesWaitingPerPersonMax,
  waitMs: pageWaitMs,
};

/** Slots for making pages, and for forms and those with a file, which take longer. */
interface Slots {
  pages: FairSemaphore;
  forms: FairSemaphore;
  files: FairSemaphore;
}

export function consoleRoutes(parts: ConsoleParts): Routes {
  const { clock } = parts.control;
  const router = new Router({ clock });
  const fileLimits = { ...limits, runningMax: fileFormsAtOnceMax, runningPerHolderMax: 1, waitMs: fileFormMs };
  const formLimits = { ...limits, runningMax: formsAtOnceMax, runningPerHolderMax: formsPerPersonMax };
  const slots = {
    pages: new FairSemaphore({ clock, limits, busy: "The Console makes too many pages at this moment" }),
    forms: new FairSemaphore({ clock, limits: formLimits, busy: "The Console handles too many forms at this moment" }),
    files: new FairSemaphore({ clock, limits: fileLimits, busy: "The Console reads too many files at this moment" }),
  };
  const handle = (context: RouteContext) => answer(context, slots, parts);
  const writeError = (error: unknown, { request }: RouteContext) => errorPage(error, request, parts);
  for (const path of [prefix, `${prefix}/*`]) router.add({ path, methods: ["GET", "HEAD", "POST"], handle, writeError });
  return router.app;
}

async function answer({ request, server }: RouteContext, slots: Slots, parts: ConsoleParts): Promise<Response> {
  const { path: whole, query } = requestTarget(request);
  const path = whole.slice(prefix.length).replace(/\/$/, "") || "/";
  if (request.method === "POST") requireSameOrigin(request);
  const address = parts.control.proxies.clientOf(request, server);
  const viewer = await findViewer(request, parts.control);
  const signIn = await signInAnswer({ request, path, query, address, viewer }, parts);
  if (signIn !== null) return signIn;
  if (viewer === null) return signedOut(request);
  if (path === "/") return seeOther(startOf(viewer));
  if (path === "/switch") return switched(query, viewer);
  const found = findPage(path, pages);
  using _slot = slotOf(await slotsFor(request, found, slots).acquire(holderOf(viewer)));
  if (found === null) throw new DomainError("not_found", "There is no such page in the Console");
  const workspace = await workspaceOf(found, viewer, parts);
  const call = pageCall({ viewer, workspace, query, path: whole, params: found.params, base: found.base, request }, parts);
  return await showPage({ page: found.page, call, request }, parts);
}

function slotsFor({ method }: Request, found: FoundPage | null, { pages: ofPages, forms, files }: Slots): FairSemaphore {
  if (method !== "POST") return ofPages;
  return found?.page.formBytesMax === undefined ? forms : files;
}

/** A person has no more slots by more sessions. */
function holderOf({ email, session }: Viewer): string {
  return email ?? session.id;
}

function slotOf(release: () => void): Disposable {
  return { [Symbol.dispose]: release };
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
