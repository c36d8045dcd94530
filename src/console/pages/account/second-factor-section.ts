/** The second factor on the account page: its state, setting up an app, and ending it. */
import { DomainError } from "../../../accounts/errors.ts";
import type { Person } from "../../../accounts/members/principal.ts";
import { beginSecondFactor } from "../../../accounts/second-factor/begin-second-factor.ts";
import { confirmSecondFactor } from "../../../accounts/second-factor/confirm-second-factor.ts";
import { disableSecondFactor } from "../../../accounts/second-factor/disable-second-factor.ts";
import { secondFactorOf, type SecondFactor } from "../../../accounts/second-factor/second-factor-of.ts";
import { requireRecentSignIn } from "../../../accounts/sessions/session.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { badge } from "../../look/badge.ts";
import { actionButton } from "../../look/forms/form.ts";
import { time } from "../../look/time.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
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
  const button = (action: keyof typeof secondFactorActions, label: string): Html =>
    actionButton({ action: call.path, label, hidden: hiddenFields(call, action) });
  const setUpLabel = view.enabled ? "Set up a new app" : "Set up an app";
  return markup`<section aria-labelledby="second-factor-title"><h2 id="second-factor-title">Second factor</h2>
    ${state(view)}${isRefused ? confirmForm(call) : null}
    <div class="actions">${button("set-up-second-factor", setUpLabel)}${view.enabled && !view.demanded ? button("end-second-factor", "Turn it off") : null}</div>
  </section>`;
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

function confirmForm(call: PageCall): Html {
  const action = "confirm-second-factor";
  const { problem } = formState(call, { action });
  return codeForm({ id: "app", action: call.path, hidden: hiddenFields(call, action), problem, submit: "Turn it on" });
}

async function setUp(call: PageCall): Promise<ActionResult> {
  const { email } = recentPersonOf(call, "set up a second factor");
  const shown = await beginSecondFactor({ email, publicUrl: call.publicUrl }, call.parts.control);
  return { show: page(call, markup`${secretToScan(shown)}${confirmForm(call)}`) };
}

async function confirm(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const person = recentPersonOf(call, "set up a second factor");
  const codes = await confirmSecondFactor({ person, code: typed.text("code") }, call.parts.control);
  return { show: page(call, recoveryCodes(codes, call.path)) };
}

async function end(call: PageCall): Promise<ActionResult> {
  const person = recentPersonOf(call, "turn the second factor off");
  const { control } = call.parts;
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
