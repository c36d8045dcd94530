/** Makes the answer of a page of the table: who may see it, its form, and what was refused. */
import { DomainError, errorStatuses, LimitReachedError } from "../accounts/errors.ts";
import { requireFormToken } from "../accounts/sessions/browser.ts";
import { RoleNeededError } from "./role-needed.ts";
import { csvResponse } from "../http/csv-response.ts";
import { servedPage, type ServedPage } from "./early-access.ts";
import type { FormFields } from "./form.ts";
import { withRefusal } from "./page-call.ts";
import type { Page, PageCall } from "./page.ts";
import { saidCookie, seeOther } from "./redirect.ts";
import { secondFactorNeeded } from "./second-factor/second-factor-needed.ts";
import { shellResponse } from "./shell.ts";

interface Shown {
  page: Page;
  /** What it does for the workspace. */
  served: ServedPage;
  call: PageCall;
  request: Request;
}

/** @param form null: the page is shown @throws DomainError */
export async function showPage({ form, ...shown }: Omit<Shown, "served"> & { form: FormFields | null }): Promise<Response> {
  const content = await secondFactorNeeded(shown.call);
  if (content !== null) return shellResponse({ ...shown, content, status: 403 });
  const served = await servedPage(shown.page, shown.call);
  return form === null ? get({ ...shown, served }) : act({ ...shown, served }, form);
}

async function get({ page, served, call, request }: Shown): Promise<Response> {
  if (served.csv && call.query.get("as") === "csv") return csvResponse(await served.csv(call));
  return shellResponse({ content: await served.render(call), page, call, request });
}

async function act({ page, served, call, request }: Shown, form: FormFields): Promise<Response> {
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
  { page, served, call, request, name, form }: Shown & { name: string; form: FormFields },
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

/** @throws DomainError forbidden with the roles that may see the page */
export function requireRole(page: Page, { workspace, viewer }: Pick<PageCall, "workspace" | "viewer">): void {
  if (viewer.principal.kind === "operator" && page.of !== "person") return;
  if (page.of === "person") return;
  const { role } = workspace;
  if (page.of === "workspace" && role !== "operator" && page.roles.includes(role)) return;
  throw new RoleNeededError({ page, workspace, viewer });
}
