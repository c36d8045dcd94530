/** What a page says in place of its contents, or above them. */
import { markup, type Html } from "../../http/html.ts";
import type { Tone } from "./badge.ts";
import { copyButton } from "./copy.ts";
import { content, type Content } from "./user-text.ts";

export interface Notice {
  tone: Tone;
  words: Content;
}

/** What an action did. It is read out without taking the focus. */
export function notice({ tone, words }: Notice): Html {
  return markup`<p class="notice ${tone}" role="${tone === "bad" ? "alert" : "status"}" data-announced>${content(words)}</p>`;
}

/** There is nothing yet. @param action the link or button that changes this; null if the reader may not */
export function emptyState(words: Content, action: Html | null): Html {
  return markup`<div class="state"><p>${content(words)}</p>${action === null ? null : markup`<p>${action}</p>`}</div>`;
}

/** @param requestId what the operator finds in the log; null if there is none */
export function errorState({
  message,
  requestId,
  retryPath,
}: {
  message: string;
  requestId: string | null;
  retryPath: string | null;
}): Html {
  const retry = retryPath === null ? null : markup`<p><a class="button" href="${retryPath}">Try again</a></p>`;
  return markup`<div class="state bad" role="alert">
    <p>${content(message)}</p>
    ${requestId === null ? null : markup`<p class="under">Request <code id="failed-request">${requestId}</code> ${copyButton({ copies: "failed-request", label: "Copy" })}</p>`}
    ${retry}
  </div>`;
}

/** @param needed the roles that may see it, such as "auditor or admin" */
export function forbiddenState({ what, needed, role }: { what: string; needed: string; role: string }): Html {
  return markup`<div class="state warn">
    <p>${what} requires the role ${needed}. Your role in this workspace is ${role}.</p>
    <p class="under">An admin of the workspace can change your role under Members.</p>
  </div>`;
}
