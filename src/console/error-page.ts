/** Any error as a page that says what happened and what to do. */
import { DomainError, errorStatuses, LimitReachedError, unexpectedError } from "../accounts/errors.ts";
import { markup, type Html } from "../http/html.ts";
import { requestTarget, MethodNotAllowedError } from "../http/router.ts";
import { forbiddenState } from "./look/states.ts";
import { userText } from "./look/user-text.ts";
import { sentence as words } from "./page-forms.ts";
import type { ConsoleParts } from "./parts.ts";
import { plainResponse } from "./plain-page.ts";
import { roleName } from "./role-name.ts";
import { RoleNeededError } from "./role-needed.ts";
import { refusalResponse } from "./shell.ts";

const titles: Partial<Record<DomainError["code"], string>> = {
  unauthorized: "You are signed out",
  sign_in_again: "Sign in again",
  forbidden: "Not for your role",
  not_found: "Nothing is here",
  body_too_large: "Too large",
  unavailable: "Not available at the moment",
  internal_error: "Something went wrong",
};

export function errorPage(error: unknown, request: Request, { control }: ConsoleParts): Response {
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
  if (error instanceof RoleNeededError) {
    const { needed, refused } = error;
    const role = roleName(refused.workspace.role).toLowerCase();
    const words = needed === null ? said(error.message) : forbiddenState({ what: "This page", needed, role });
    const main = markup`${words}${wayOut(error, request)}`;
    return refusalResponse({ title: titles.forbidden ?? "", main }, { ...refused, path: requestTarget(request).path });
  }
  const known = error instanceof DomainError ? error : unexpectedError(error, { log: control.log, event: "console.failed" });
  const main = markup`${said(known.message)}${wayOut(known, request)}`;
  // Whoever sends slowly would go on after the answer.
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
