/** Makes the answer of a page of the table: checks who may see it, runs its form, and shows what was refused. */
import { DomainError, errorStatuses } from "../accounts/errors.ts";
import { LimitReachedError } from "../accounts/quotas/limit-reached.ts";
import { requireFormToken } from "../accounts/sessions/same-origin.ts";
import { RoleNeededError } from "./role-needed.ts";
import { csvResponse } from "../http/csv-response.ts";
import { withDeadline } from "../kernel/clock.ts";
import { servedPage, type ServedPage } from "./early-access.ts";
import { readForm, type FormFields } from "./form.ts";
import { pageDeadlineMs } from "./limits.ts";
import { withRefusal } from "./page-call.ts";
import type { Page, PageCall } from "./page.ts";
import type { ConsoleParts } from "./parts.ts";
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

/** @throws DomainError */
export function showPage({ page, call, request }: Omit<Shown, "served">, parts: ConsoleParts): Promise<Response> {
  requireRole(page, call);
  const work = secondFactorNeeded(call).then(async (content) => {
    if (content !== null) return shellResponse({ content, page, call, request, status: 403 });
    const shown = { page, served: await servedPage(page, call), call, request };
    return request.method === "POST" ? await act(shown, parts) : await get(shown);
  });
  return withDeadline(parts.control.clock, page.deadlineMs ?? pageDeadlineMs, "The page", work);
}

async function get({ page, served, call, request }: Shown): Promise<Response> {
  if (served.csv && call.query.get("as") === "csv") return csvResponse(await served.csv(call));
  return shellResponse({ content: await served.render(call), page, call, request });
}

async function act({ page, served, call, request }: Shown, { control }: ConsoleParts): Promise<Response> {
  const form = await readForm(request, control.clock, page.formBytesMax);
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
function requireRole(page: Page, { workspace, viewer }: PageCall): void {
  if (viewer.principal.kind === "operator" && page.of !== "person") return;
  if (page.of === "person") return;
  const { role } = workspace;
  if (page.of === "workspace" && role !== "operator" && page.roles.includes(role)) return;
  throw new RoleNeededError({ page, workspace, viewer });
}
