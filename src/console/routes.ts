/**
 * /console: from a request to a page, a sign-in, or an error in words. Pages, forms and sign-ins pass separate doors, so that no person or
 * workspace takes every place, and a flood of sign-ins keeps out no one who is signed in. show-page.ts refuses a page that the viewer may
 * not see, and answers the others.
 */
import { DomainError, errorStatuses, LimitReachedError, unexpectedError } from "../accounts/errors.ts";
import { strangerGivesWayMs } from "../accounts/limits.ts";
import { BodyDoor } from "../accounts/quotas/body-door.ts";
import { Turns } from "../accounts/quotas/fair-semaphore.ts";
import { laneOf, memberLane, type Lane } from "../accounts/quotas/lane.ts";
import { requireSameOrigin } from "../accounts/sessions/browser.ts";
import { findWorkspace } from "../accounts/workspaces/workspaces.ts";
import type { Door } from "../control-api/session-doors.ts";
import { compressedPage } from "../http/compressed-page.ts";
import { markup, type Html } from "../http/html.ts";
import { Router, type RouteContext, type Routes, requestTarget, MethodNotAllowedError } from "../http/router.ts";
import { withDeadline, type Clock } from "../kernel/clock.ts";
import { receiveForm } from "./form.ts";
import { LivePages } from "./live-pages.ts";
import * as limits from "./limits.ts";
import { pageDeadlineMs } from "./limits.ts";
import { userText } from "./look/parts.ts";
import { inTheme, isTheme, themeCookie, themePath } from "./look/theme.ts";
import { findPage, type FoundPage, pageCall } from "./page-call.ts";
import { sentence as words } from "./page-forms.ts";
import type { HereWorkspace, ConsoleParts } from "./page.ts";
import { pages } from "./pages.ts";
import { nextPath, seeOther, workspacePath } from "./redirect.ts";
import { plainResponse } from "./shell.ts";
import { roleRefusal, showPage } from "./show-page.ts";
import { signInAnswer } from "./sign-in/sign-in.ts";
import { zoneChosen, zonePath } from "./time-zone.ts";
import { asOperator, findViewer, isOperator, type Viewer } from "./viewer.ts";

const prefix = "/console";

export function consoleRoutes(parts: ConsoleParts): Routes {
  const { clock } = parts.control;
  const router = new Router({ clock });
  const doors = consoleDoors(clock);
  const handle = async (context: RouteContext) =>
    compressedPage(context.request, await inTheme(context.request, await answer(context, doors, parts)));
  const writeError = (error: unknown, { request }: RouteContext) => inTheme(request, errorPage(error, request, parts));
  for (const path of [prefix, `${prefix}/*`]) router.add({ path, methods: ["GET", "HEAD", "POST"], handle, writeError });
  return router.app;
}

async function answer({ request, server }: RouteContext, doors: ConsoleDoors, parts: ConsoleParts): Promise<Response> {
  const { path: whole, query } = requestTarget(request);
  const path = whole.slice(prefix.length).replace(/\/$/, "") || "/";
  if (request.method === "POST") requireSameOrigin(request);
  const address = parts.control.proxies.clientOf(request, server);
  const person = await findViewer(request, parts.control);
  if (request.method === "POST" && whole === themePath) return themeChosen(query, request);
  const signIn = await signInAnswer({ request, path, query, address, viewer: person, door: doors.signIns }, parts);
  if (signIn !== null) return signIn;
  if (person === null) return signedOut(request);
  if (path === "/") return seeOther(startOf(person));
  if (path === "/switch") return switched(query, person);
  if (request.method === "POST" && whole === zonePath) return await chooseZone(request, person, doors, parts);
  const found = findPage(path, pages);
  if (found === null) throw new DomainError("not_found", "There is no such page in the Console");
  const viewer = asOnPage(found, person);
  const workspace = await workspaceOf(found, viewer, parts);
  const refusal = await roleRefusal(found.page, { workspace, viewer, path: whole }, parts);
  if (refusal !== null) return refusal;
  const lane = await laneFor(viewer, workspace, parts);
  const door = found.page.formBytesMax === undefined ? doors.forms : parts.control.files;
  const received = { door: door.bodies, lane, bytesMax: found.page.formBytesMax, tooLarge: found.page.formTooLarge };
  using body = request.method === "POST" ? await receiveForm(request, received) : null;
  const poll = doors.live.pollOf(found.page, request, lane);
  using turn = await (body !== null ? door.turns : poll !== null ? doors.live : doors.pages).take(lane);
  const place = { viewer, workspace, query, path: whole, params: found.params, base: found.base };
  const call = pageCall({ ...place, request, turn }, parts);
  const work = turn.keepFor(showPage({ page: found.page, call, request, poll, form: (await body?.read()) ?? null }));
  return await withDeadline(parts.control.clock, found.page.deadlineMs ?? pageDeadlineMs, "The page", work);
}

/** A page of a workspace takes the lane of that workspace, of which the viewer was found to be a member. */
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

async function chooseZone(request: Request, viewer: Viewer, doors: ConsoleDoors, parts: ConsoleParts): Promise<Response> {
  const lane = await laneFor(viewer, { id: "", name: "", role: "member" }, parts);
  using body = await receiveForm(request, { door: doors.forms.bodies, lane });
  return zoneChosen((await body.read()).text("to"), request);
}

/** The form of the navigation that chooses another workspace. */
function switched(query: URLSearchParams, viewer: Viewer): Response {
  const chosen = viewer.workspaces.find(({ id }) => id === query.get("workspace"));
  return seeOther(chosen ? workspacePath(chosen.name) : startOf(viewer));
}

/** Anyone may choose one, and sees the same page again. */
function themeChosen(query: URLSearchParams, request: Request): Response {
  const theme = query.get("to");
  if (!isTheme(theme)) throw new DomainError("invalid_field", "The theme is one of system, light and dark");
  const from = URL.parse(request.headers.get("referer") ?? "");
  return seeOther(nextPath(from === null ? null : from.pathname + from.search), [themeCookie(theme, request)]);
}

/** A page redirects to the sign-in and back. A form is lost with its session, and the answer says so. */
function signedOut(request: Request): Response {
  if (request.method === "POST")
    throw new DomainError("unauthorized", "Your session has ended, and nothing was changed: sign in again");
  const { path, query } = requestTarget(request);
  const next = query.size === 0 ? path : `${path}?${query.toString()}`;
  return seeOther(path === prefix ? `${prefix}/sign-in` : `${prefix}/sign-in?next=${encodeURIComponent(next)}`);
}

/** A person who operates too is the operator on the operator's pages, and in workspaces in which they are no member. */
function asOnPage({ page, workspace: named }: FoundPage, viewer: Viewer): Viewer {
  if (!viewer.operates || page.of === "person") return viewer;
  const isMember = viewer.workspaces.some(({ id, name }) => name === named || id === named);
  return isMember ? viewer : asOperator(viewer);
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

// What the Console may receive and render at once. Forms with a file share the door of the control API's files.

interface ConsoleDoors {
  pages: Turns;
  /** Pages that refresh themselves. */
  live: LivePages;
  /** Forms without a file. They have their own turns, since they may wait for providers. */
  forms: Door;
  /** Forms of visitors who have not signed in, by their network. */
  signIns: BodyDoor;
}

const waiting = {
  waitingMax: limits.pagesWaitingMax,
  waitingPerHolderMax: limits.pagesWaitingPerPersonMax,
  waitMs: limits.pageWaitMs,
};
const pageTurns = {
  ...waiting,
  runningMax: limits.pagesAtOnceMax,
  runningPerGroupMax: limits.pagesPerWorkspaceMax,
  runningPerHolderMax: limits.pagesPerPersonMax,
};
const forms = {
  ...waiting,
  runningMax: limits.formsAtOnceMax,
  runningPerGroupMax: limits.formsPerWorkspaceMax,
  runningPerHolderMax: limits.formsPerPersonMax,
};
const formBodies = {
  ...waiting,
  runningMax: limits.formBodiesMax,
  runningPerGroupMax: limits.formBodiesPerWorkspaceMax,
  runningPerHolderMax: limits.formBodiesPerPersonMax,
};
const signIns = {
  runningMax: limits.signInsAtOnceMax,
  runningPerHolderMax: limits.signInsAtOnceMax,
  waitingMax: limits.signInsWaitingMax,
  waitingPerHolderMax: limits.signInsWaitingMax,
  refusesOldest: true,
  waitMs: limits.pageWaitMs,
};

export function consoleDoors(clock: Clock): ConsoleDoors {
  const busy = "The Console is handling too many forms right now";
  return {
    pages: new Turns({ clock, limits: pageTurns, busy: "The Console is rendering too many pages right now" }),
    live: new LivePages(clock),
    forms: { bodies: new BodyDoor({ clock, limits: formBodies, busy }), turns: new Turns({ clock, limits: forms, busy }) },
    signIns: new BodyDoor({
      clock,
      limits: signIns,
      busy: "Too many people are signing in right now",
      givesWayMs: strangerGivesWayMs,
      dropsRefused: true,
    }),
  };
}

// Any error as a page that says what happened and what to do.

const titles: Partial<Record<DomainError["code"], string>> = {
  unauthorized: "You are signed out",
  sign_in_again: "Sign in again",
  forbidden: "Not allowed",
  not_found: "Nothing is here",
  body_too_large: "Too large",
  unavailable: "Not available at the moment",
  internal_error: "Something went wrong",
};

function errorPage(error: unknown, request: Request, { control }: ConsoleParts): Response {
  if (error instanceof MethodNotAllowedError) {
    return plainResponse({ title: "Not possible", main: said("This page does not take the method") }, { status: 405 });
  }
  if (error instanceof LimitReachedError) {
    const retry = Math.max(1, Math.ceil(error.retryAfterMs / 1_000));
    return plainResponse(
      { title: "Too much at once", main: markup`${said(error.message)}${again(request)}` },
      { status: error.status, headers: { "retry-after": String(retry) } },
    );
  }
  const known = error instanceof DomainError ? error : unexpectedError(error, { log: control.log, event: "console.failed" });
  const main = markup`${said(known.message)}${wayOut(known, request)}`;
  // A slow sender would go on after the answer.
  const headers = known.code === "body_too_slow" ? { connection: "close" } : {};
  return plainResponse(
    { title: titles[known.code] ?? "This cannot be done", main },
    { status: errorStatuses[known.code], headers },
  );
}

function said(message: string): Html {
  return markup`<p>${userText(words(message))}</p>`;
}

function wayOut({ code }: DomainError, request: Request): Html {
  if (code === "unauthorized" || code === "sign_in_again") {
    const { path } = requestTarget(request);
    return markup`<p><a class="button" href="/console/sign-in?again=yes&next=${encodeURIComponent(path)}">Sign in</a></p>`;
  }
  if (code === "body_too_slow" || code === "internal_error" || code === "unavailable") return again(request);
  return markup`<p><a href="/console">To the start of the Console</a></p>`;
}

function again(request: Request): Html {
  const { path } = requestTarget(request);
  return markup`<p><a class="button" href="${path}">Try again</a></p>`;
}
