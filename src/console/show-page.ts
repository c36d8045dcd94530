/**
 * Answers for a page of the table: refuses a viewer whose role may not see it, shows it, runs its form or writes its file. A refused form is
 * shown again with all that was typed, and the message at its field. A list has its saved views above it. Two things replace a page: the setup of a second factor that an admin
 * still lacks, and the offer to switch on an early-access feature. No page does either itself, so none can forget it.
 */
import { DomainError, errorStatuses, LimitReachedError } from "../accounts/errors.ts";
import { lacksSecondFactor } from "../accounts/members/principal.ts";
import { selectManagers } from "../accounts/members/store.ts";
import { hasSecondFactor } from "../accounts/second-factor/second-factor.ts";
import { requireFormToken } from "../accounts/sessions/browser.ts";
import type { EarlyAccessFeature } from "../accounts/workspaces/workspaces.ts";
import { workspaceEndpoints } from "../control-api/endpoints/workspaces.ts";
import { csvResponse } from "../http/csv-response.ts";
import { markup, type Html } from "../http/html.ts";
import { hiddenFields, signInFirst } from "./page-forms.ts";
import type { ConsoleParts, FormFields, Page, PageCall, PageFile, ActionResult, PageContent } from "./page.ts";
import { actionButton, address, emptyForm, form } from "./look/forms.ts";
import { emptyState, forbiddenState } from "./look/parts.ts";
import { tagOf, unchanged, type Poll } from "./live-pages.ts";
import { withRefusal } from "./page-call.ts";
import { withSavedViews } from "./pages/workspace/saved-views-page.ts";
import { saidCookie, seeOther } from "./redirect.ts";
import { refusalResponse, shellResponse } from "./shell.ts";
import { isOperator, roleName } from "./viewer.ts";

interface Shown {
  page: Page;
  /** What the page does for the workspace. */
  served: ServedPage;
  call: PageCall;
  request: Request;
  /** null: it is not a question of a page that refreshes itself. */
  poll: Poll | null;
}

/** @param form null: the page is shown @throws DomainError */
export async function showPage({ form, ...shown }: Omit<Shown, "served"> & { form: FormFields | null }): Promise<Response> {
  const content = await secondFactorNeeded(shown.call);
  if (content !== null) return shellResponse({ ...shown, content, status: 403 });
  const served = await servedPage(shown.page, shown.call);
  return form === null ? get({ ...shown, served }) : act({ ...shown, served }, form);
}

/** The refusal of a page that the viewer may not see, within their menu: what it requires, and whom they can ask. null: they may see it. */
export async function roleRefusal(
  page: Page,
  place: Pick<PageCall, "workspace" | "viewer" | "path">,
  { control }: ConsoleParts,
): Promise<Response | null> {
  const { id, role } = place.workspace;
  if (page.of === "person" || place.viewer.principal.kind === "operator") return null;
  if (page.of === "workspace" && role !== "operator" && page.roles.includes(role)) return null;
  const needed = rolesOf(page);
  const back = markup`<p><a href="/console">To the start of the Console</a></p>`;
  if (needed === null) {
    const main = markup`${emptyState("Only the operator can open this page.", null)}${back}`;
    return refusalResponse({ title: "Requires the operator", main }, { page, ...place });
  }
  const admins = await selectManagers({ workspace: id, limit: adminsNamed }, control.sql);
  const main = markup`${forbiddenState({ needed, role: roleName(role).toLowerCase(), admins })}${back}`;
  return refusalResponse({ title: `Requires the ${needed} role`, main }, { page, ...place });
}

/** How many admins a refusal names. */
const adminsNamed = 3;

async function get({ page, served, call, request, poll }: Shown): Promise<Response> {
  const as = call.query.get("as");
  if (served.csv && as === "csv") return csvResponse(await served.csv(call));
  const file = Object.entries(served.files ?? {}).find(([word]) => word === as)?.[1];
  if (file) return fileResponse(await file(call));
  const tag = await tagOf(served, call);
  if (poll === null || tag === null) return shellResponse({ content: await served.render(call), page, call, request, tag });
  if (poll.tag === tag) return unchanged(tag);
  const content = await poll.inTurn(() => served.render(call));
  return shellResponse({ content, page, call, request, tag });
}

function fileResponse({ name, document }: PageFile): Response {
  return new Response(`${JSON.stringify(document, null, 2)}\n`, {
    headers: {
      "content-type": "application/json; charset=utf-8",
      "content-disposition": `attachment; filename="${name.replace(/[^\w.-]+/g, "-")}"`,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}

async function act({ page, served, call, request }: Omit<Shown, "poll">, form: FormFields): Promise<Response> {
  requireFormToken(form.raw("form_token"), call.viewer.token);
  const name = form.text("action");
  const action = Object.entries(served.actions ?? {}).find(([known]) => known === name)?.[1];
  if (!action) throw new DomainError("not_found", "This page has no such form: load it again");
  try {
    const result = await action(call, form);
    if ("goTo" in result) return seeOther(result.goTo, [saidCookie(result, request)]);
    return shellResponse({ content: result.show, page, call, request });
  } catch (error) {
    return await showRefusal(error, { page, served, call, request, name, form });
  }
}

/** Shows the page again with the message and all that was typed. */
async function showRefusal(
  error: unknown,
  { page, served, call, request, name, form }: Omit<Shown, "poll"> & { name: string; form: FormFields },
): Promise<Response> {
  const isRefusal = (error instanceof DomainError && error.code !== "sign_in_again") || error instanceof LimitReachedError;
  if (!isRefusal) throw error;
  const field = error instanceof DomainError ? error.field : null;
  const status = error instanceof DomainError ? errorStatuses[error.code] : error.status;
  const refused = { action: name, field, message: error.message, form, isShown: false };
  const refusedCall = withRefusal(call, refused);
  const content = await served.render(refusedCall);
  return shellResponse({ content, page, call: refusedCall, request, status });
}

// Pages in early access: if the workspace has the feature off, the page says so, and the operator can switch it on there.

/** What a page does for a workspace: everything, or if it is off, only the way to switch it on. */
type ServedPage = Pick<Page, "render" | "actions" | "csv" | "files" | "changes">;

async function servedPage(page: Page, call: PageCall): Promise<ServedPage> {
  const { earlyAccess: feature, list } = page;
  if (feature === undefined || (await isOn(feature, call)))
    return list === undefined ? page : { ...page, render: async (one) => withSavedViews(await page.render(one), list, one) };
  return {
    render: async () => offContent(page, feature, call),
    actions: { "switch-on": () => switchOn(feature, call) },
    async csv() {
      throw new DomainError("forbidden", "This page is in early access and off for this workspace");
    },
  };
}

async function isOn(feature: EarlyAccessFeature, call: PageCall): Promise<boolean> {
  const { early_access: on } = await call.control(workspaceEndpoints.show, { id: call.workspace.id });
  return on.includes(feature);
}

function offContent({ navigation }: Page, feature: EarlyAccessFeature, call: PageCall): PageContent {
  const words = markup`This page is in early access, and off for this workspace.${isOperator(call.viewer) ? null : markup` The operator can switch it on, also by <code>--early-access ${feature}</code> of <code>workspace set</code>.`}`;
  const hidden = hiddenFields(call, "switch-on");
  const button = isOperator(call.viewer) ? actionButton({ action: call.path, label: "Switch it on", hidden }) : null;
  return { title: navigation?.label ?? "Early access", main: emptyState(words, button) };
}

/** The other features stay. @throws DomainError forbidden */
async function switchOn(feature: EarlyAccessFeature, call: PageCall): Promise<ActionResult> {
  if (!isOperator(call.viewer)) throw new DomainError("forbidden", "Only the operator switches early access on");
  const { early_access: on } = await call.control(workspaceEndpoints.show, { id: call.workspace.id });
  await call.control(workspaceEndpoints.edit, { id: call.workspace.id, early_access: [...on, feature] });
  return { goTo: call.path, said: "It is switched on for the workspace." };
}

// Replaces an admin's pages until their session has a second factor. Workspaces in which they are not an admin stay open.

/** null: the viewer needs none here. */
async function secondFactorNeeded(call: PageCall): Promise<PageContent | null> {
  const { viewer, workspace, parts } = call;
  if (workspace.id === "") return null;
  if (!lacksSecondFactor(viewer.principal, { role: workspace.role, oidc: parts.control.oidc !== null })) return null;
  return {
    title: "A second factor is needed here",
    lead: `In ${workspace.name} you have the role ${roleName(workspace.role).toLowerCase()}, which requires a second factor: an app that shows one-time codes.`,
    main: await wayOn(call),
  };
}

async function wayOn(call: PageCall): Promise<Html> {
  const { viewer, path, parts } = call;
  if (await hasSecondFactor(viewer.email ?? "", parts.control.sql)) {
    const again = address("/console/sign-in", { again: "yes", next: path });
    return markup`<p>You signed in without the code of your app.</p><p><a class="button" href="${again}">Sign in with a code</a></p>`;
  }
  const hidden = hiddenFields(call, "set-up-second-factor", { next: path });
  const first = signInFirst(call, "set up a second factor");
  return (
    first ?? form({ id: "set-up", action: "/console/account", hidden, fields: [], state: emptyForm, submit: "Set up an app" })
  );
}

/** Such as "auditor or admin"; null: only the operator sees the page. */
function rolesOf({ of, roles }: Page): string | null {
  if (of === "operator" || roles.length === 0) return null;
  // A super admin may do what an admin may.
  const least = roles.filter((role) => role !== "super_admin" || roles.length === 1);
  return least.map((role) => roleName(role).toLowerCase()).join(" or ");
}
