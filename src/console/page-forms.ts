/**
 * What the forms of all pages share: the hidden fields that name the action and prove that the form belongs to this session, what a form
 * shows after it was refused, the dialog that it opens in, the fields that were changed, and the request to sign in again. That request
 * comes before a form is filled in, so that nothing typed is lost.
 */
import { isRecent } from "../accounts/sessions/session.ts";
import { markup, type Html } from "../http/html.ts";
import { type FormState, address } from "./look/forms.ts";
import { dialog, opener } from "./look/parts.ts";
import type { FormFields, PageCall } from "./page.ts";

/** Names the page's action, and proves that the form is from a page of this session. */
export function hiddenFields(
  { formToken }: Pick<PageCall, "formToken">,
  action: string,
  further: Record<string, string> = {},
): Record<string, string> {
  return { form_token: formToken, action, ...further };
}

/**
 * What a form shows: what was typed if it was refused, else the current values.
 * @param same whether the refused form is this one, if a page has several with one action
 */
export function formState(
  { refused }: Pick<PageCall, "refused">,
  {
    action,
    values = {},
    same = () => true,
  }: { action: string; values?: Record<string, string>; same?: (form: FormOf) => boolean },
): FormState {
  if (refused === null || refused.action !== action || !same(refused.form)) return { values, problem: null };
  refused.isShown = true;
  return { values: refused.form.values(), problem: { field: refused.field, message: sentence(refused.message) } };
}

type FormOf = NonNullable<PageCall["refused"]>["form"];

/** Adds the period that error messages lack. */
export function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/**
 * Asks for a new sign-in before the form is filled in, if its action needs one.
 * @param what completes "To …"
 * @returns what replaces the form; null: the sign-in is recent
 */
export function signInFirst({ viewer, nowMs, path }: PageCall, what: string): Html | null {
  if (isRecent(viewer.session, nowMs)) return null;
  const again = address("/console/sign-in", { again: "yes", next: path });
  return markup`<p class="hint">To ${what}, sign in again: your last sign-in is more than an hour ago.</p>
    <p><a class="button quiet" href="${again}">Sign in again</a></p>`;
}

interface ActDialog {
  /** Of the form that it holds; unique on its page. */
  action: string;
  /** Of the button. */
  label: string;
  title: string;
  body: Html;
  /** Whether Escape asks before it discards what was typed. */
  guards?: boolean;
  /** Whether its button is the page's first. */
  isMain?: boolean;
}

/**
 * An act in a dialog: the button beside the page's heading, and the dialog within the page. The address with `?open=<action>` has it open,
 * which is where the button leads without a script. A refused form opens it again.
 */
export function actDialog(call: PageCall, { action, label, title, body, guards = false, isMain = false }: ActDialog) {
  const opensAtOnce = call.refused?.action === action || (call.refused === null && call.query.get("open") === action);
  return {
    button: opener({ dialog: action, path: address(call.path, { open: action }), label, quiet: !isMain }),
    dialog: dialog({ id: action, title, body, asks: guards ? "changes" : null, opensAtOnce }),
  };
}

/** Hidden fields with the values that a form shows, so that only those that were changed are saved: two people undo nothing of each other. */
export function shownValues(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`was.${name}`, value]));
}

/** Whether a field differs from what its form showed; a form without `shownValues` showed empty fields. */
export function isChanged(typed: FormFields, name: string): boolean {
  return typed.text(name) !== typed.text(`was.${name}`);
}
