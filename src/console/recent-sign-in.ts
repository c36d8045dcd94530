/** Says before a form is filled in that its action needs a new sign-in, so that nothing typed is lost. */
import { isRecent } from "../accounts/sessions/session.ts";
import { markup, type Html } from "../http/html.ts";
import { address } from "./look/forms/address.ts";
import type { PageCall } from "./page.ts";

/** @param what completes "To …" @returns what stands in place of the form; null: the sign-in is recent */
export function signInFirst({ viewer, nowMs, path }: PageCall, what: string): Html | null {
  if (isRecent(viewer.session, nowMs)) return null;
  const again = address("/console/sign-in", { again: "yes", next: path });
  return markup`<p class="hint">To ${what}, sign in again: your last sign-in is more than an hour ago.</p>
    <p><a class="button quiet" href="${again}">Sign in again</a></p>`;
}
