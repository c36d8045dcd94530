/** The second factor on the account page: its state, setting up an app, and ending it. */
import { DomainError } from "../../../accounts/errors.ts";
import type { Person } from "../../../accounts/members/principal.ts";
import {
  beginSecondFactor,
  confirmSecondFactor,
  disableSecondFactor,
  secondFactorOf,
  type SecondFactor,
} from "../../../accounts/second-factor/second-factor.ts";
import { requirePresentCode } from "../../../accounts/second-factor/proofs.ts";
import { requireRecentSignIn } from "../../../accounts/sessions/session.ts";
import { updateBothFactors } from "../../../accounts/sessions/store.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { badge } from "../../look/badge.ts";
import type { Field } from "../../look/forms/field.ts";
import { actionButton, form } from "../../look/forms/form.ts";
import { time } from "../../look/time.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { nextPath } from "../../redirect.ts";
import { codeForm, recoveryCodes, secretToScan } from "../../second-factor/second-factor-forms.ts";

export const secondFactorActions = {
  "set-up-second-factor": setUp,
  "confirm-second-factor": confirm,
  "end-second-factor": end,
} satisfies Page["actions"];

export async function secondFactorSection(call: PageCall): Promise<Html> {
  const { sql, oidc } = call.parts.control;
  const view = await secondFactorOf(personOf(call).email, { sql, oidc: oidc !== null });
  const isRefused = call.refused?.action === "confirm-second-factor";
  const setUpButton = actionButton({
    action: call.path,
    label: "Set up an app",
    hidden: hiddenFields(call, "set-up-second-factor"),
  });
  const changes = markup`${codeAndButton(call, "set-up-second-factor", "Set up a new app")}
    ${view.demanded ? null : codeAndButton(call, "end-second-factor", "Turn it off")}`;
  return markup`<section aria-labelledby="second-factor-title"><h2 id="second-factor-title">Second factor</h2>
    ${state(view)}${isRefused ? confirmForm(call) : null}
    ${view.enabled ? changes : markup`<div class="actions">${setUpButton}</div>`}
  </section>`;
}

/** Asked of whoever changes what signs in. */
export const presentCodeField: Field = {
  kind: "text",
  name: "code",
  label: "Code of your present app",
  hint: "Or a recovery code, if you have lost it.",
  required: true,
  autocomplete: "one-time-code",
  charactersMax: 40,
};

function codeAndButton(call: PageCall, action: keyof typeof secondFactorActions, label: string): Html {
  const isOpen = call.refused?.action === action;
  const body = form({
    id: action,
    action: call.path,
    hidden: hiddenFields(call, action),
    fields: [presentCodeField],
    state: { ...formState(call, { action }), values: {} },
    submit: label,
  });
  return markup`<details${isOpen ? markup` open` : null}><summary>${label}</summary>${body}</details>`;
}

function state({ enabled, since, demanded, recoveryCodesLeft: left }: SecondFactor): Html {
  if (!enabled || since === null) {
    const word = badge(demanded ? "warn" : "neutral", "off");
    return markup`<p>${word} Your password alone signs you in. With an app that shows one-time codes, a stolen password is of no use.</p>`;
  }
  const codes = left === 1 ? "1 recovery code is left." : `${left} recovery codes are left.`;
  const stays = demanded ? " Your role demands it; a new app takes the place of the old one." : "";
  return markup`<p>${badge(left === 0 ? "warn" : "good", "on")} since ${time(since)}. ${codes}${stays}</p>`;
}

function confirmForm(call: PageCall, next = call.refused?.form.text("next") ?? ""): Html {
  const action = "confirm-second-factor";
  const { problem } = formState(call, { action });
  return codeForm({ id: "app", action: call.path, hidden: hiddenFields(call, action, { next }), problem, submit: "Turn it on" });
}

async function setUp(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const person = recentPersonOf(call, "set up a second factor");
  const { control } = call.parts;
  await requirePresentCode({ person, code: typed.text("code") }, control);
  const shown = await beginSecondFactor({ email: person.email, publicUrl: call.publicUrl }, control);
  return { show: page(call, markup`${secretToScan(shown)}${confirmForm(call, typed.text("next"))}`) };
}

/** The session has then given both factors. */
async function confirm(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const person = recentPersonOf(call, "set up a second factor");
  const { control } = call.parts;
  const codes = await confirmSecondFactor({ person, code: typed.text("code") }, control);
  await updateBothFactors(call.viewer.session.id, control.sql);
  const next = typed.text("next");
  return { show: page(call, recoveryCodes(codes, next === "" ? call.path : nextPath(next))) };
}

async function end(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const person = recentPersonOf(call, "turn the second factor off");
  const { control } = call.parts;
  await requirePresentCode({ person, code: typed.text("code") }, control);
  await disableSecondFactor({ person, oidc: control.oidc !== null }, control);
  return { goTo: call.path, said: "The second factor is off." };
}

function page({ path }: PageCall, main: Html): PageContent {
  return { title: "Second factor", trail: [{ path, label: "Your account" }], main };
}

/** The person of the session: like a password, a second factor is nobody else's. @throws DomainError forbidden */
function personOf({ viewer: { email } }: PageCall): Person {
  if (email === null) throw new DomainError("forbidden", "The operator has no second factor");
  return { kind: "person", email, carriedBy: "session" };
}

/** Like `personOf`, for what would let a thief in. @throws DomainError forbidden, sign_in_again */
function recentPersonOf(call: PageCall, action: string): Person {
  requireRecentSignIn(call.viewer.session, { nowMs: call.nowMs, action });
  return personOf(call);
}
