/**
 * A person's own account: password, second factor and sessions. Actions that would let an intruder in require a sign-in within the last
 * hour; a new password also requires the current one, a code or a link. Passwords and second factors are not part of the control API, so
 * that this page alone calls their verbs. The operator holds a token and has no account.
 */
import { DomainError } from "../../accounts/errors.ts";
import { passwordCharactersMin } from "../../accounts/limits.ts";
import type { Person } from "../../accounts/members/principal.ts";
import { requirePresentCode, linkNeeded, passwordProofOf, requirePasswordProof } from "../../accounts/second-factor/proofs.ts";
import {
  beginSecondFactor,
  confirmSecondFactor,
  disableSecondFactor,
  secondFactorOf,
  type SecondFactor,
} from "../../accounts/second-factor/second-factor.ts";
import { requireStrong, setPassword } from "../../accounts/sessions/passwords.ts";
import { requireRecentSignIn, type SessionView } from "../../accounts/sessions/session.ts";
import { updateBothFactors } from "../../accounts/sessions/store.ts";
import { sessionEndpoints } from "../../control-api/endpoints/accounts.ts";
import { fontCredit } from "../../http/font.ts";
import { markup, type Html } from "../../http/html.ts";
import { formState, hiddenFields } from "../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../page.ts";
import { type Field, actionButton, form } from "../look/forms.ts";
import { badge, section, table, time } from "../look/parts.ts";
import { themeChoice } from "../look/theme.ts";
import { nextPath } from "../redirect.ts";
import { codeForm, recoveryCodes, secretToScan } from "../sign-in/second-factor-forms.ts";
import { zoneChoice } from "../time-zone.ts";

export const accountPage: Page = {
  of: "person",
  path: "/account",
  navigation: null,
  roles: [],
  render,
  actions: {
    password: choosePassword,
    end: endSession,
    "set-up-second-factor": setUp,
    "confirm-second-factor": confirm,
    "end-second-factor": end,
  },
};

async function render(call: PageCall): Promise<PageContent> {
  const { email } = call.viewer;
  const zone = section("time-zone", "Time zone", zoneChoice(call.viewer.zone));
  if (email === null) {
    const words = "You signed in with the operator token, which is not a person's account.";
    return { title: "Operator", main: markup`<p>${words}</p>${zone}${looks(call)}` };
  }
  const { data } = await call.control(sessionEndpoints.list);
  return {
    title: "Your account",
    lead: email,
    main: markup`${section("password", "Password", await passwordForm(call, email))}
      ${await secondFactorSection(call)}${section("sessions", "Sessions", sessions(data, call))}${zone}${looks(call)}`,
  };
}

function looks({ viewer }: PageCall): Html {
  return section("theme", "Theme", markup`${themeChoice(viewer.theme)}<p class="hint">In this browser. ${fontCredit}.</p>`);
}

async function passwordForm(call: PageCall, email: string): Promise<Html> {
  const proof = await passwordProofOf({ person: personOf(email), session: call.viewer.session }, call.parts.control);
  if (proof === "link") return markup`<p class="hint">${linkNeeded}.</p>`;
  const hint = `At least ${passwordCharactersMin} characters, such as several words. All your other sessions end.`;
  const fields: Field[] = [
    { kind: "password", name: "password", label: "New password", hint, required: true, autocomplete: "new-password" },
  ];
  if (proof === "password")
    fields.unshift({
      kind: "password",
      name: "present_password",
      label: "Current password",
      hint: "Forgotten? Sign out and ask for a new one.",
      required: true,
      autocomplete: "current-password",
    });
  if (proof === "code") fields.unshift(presentCodeField);
  return form({
    id: "password",
    action: call.path,
    hidden: hiddenFields(call, "password"),
    fields,
    state: formState(call, { action: "password" }),
    submit: "Set the password",
  });
}

function personOf(email: string): Person {
  return { kind: "person", email, carriedBy: "session" };
}

/** How sessions begin, in words. */
const wayWords: Record<string, string> = {
  link: "sign-in link",
  oidc: "identity provider",
  operator: "operator token",
};

function sessions(rows: readonly SessionView[], call: PageCall): Html {
  const { session } = call.viewer;
  const end = ({ id, agent }: SessionView): Html =>
    id === session.id
      ? badge("neutral", "this one")
      : actionButton({
          action: call.path,
          label: "End",
          what: `the session of ${browserName(agent)}`,
          hidden: hiddenFields(call, "end", { session: id }),
        });
  return table<SessionView>({
    caption: "Your sessions",
    columns: [
      { label: "Browser", kind: "text", cell: ({ agent }) => markup`<span title="${agent}">${browserName(agent)}</span>` },
      { label: "Signed in by", kind: "text", cell: ({ way }) => wayWords[way] ?? way },
      { label: "Last used", kind: "time", cell: ({ used_at }) => time(used_at) },
      { label: "Actions", kind: "actions", cell: end },
    ],
    rows,
    empty: markup``,
  });
}

async function choosePassword({ viewer, parts, nowMs, path }: PageCall, typed: FormFields): Promise<ActionResult> {
  const { email, session } = viewer;
  if (email === null) throw new DomainError("forbidden", "The operator has no password");
  requireRecentSignIn(session, { nowMs, action: "set a password" });
  const { control, passwords } = parts;
  const password = typed.raw("password");
  // A weak password is refused before a code is used up.
  requireStrong(password, email);
  const given = { present: typed.raw("present_password"), code: typed.text("code") };
  await requirePasswordProof({ person: personOf(email), session, given }, { ...control, passwords });
  await setPassword({ email, carriedBy: "session", password, except: session.id }, { ...control, passwords });
  return { goTo: path, said: "The password is set." };
}

async function endSession({ control, path }: PageCall, typed: FormFields): Promise<ActionResult> {
  await control(sessionEndpoints.end, { id: typed.text("session") });
  return { goTo: path, said: "The session has ended." };
}

// A browser in words, from its User-Agent. It is a hint for its owner, and proves nothing.

/** The first match counts, since several browsers also name others. */
const browsers: readonly (readonly [form: RegExp, name: string])[] = [
  [/\bEdgA?\/(\d+)/, "Edge"],
  [/\bOPR\/(\d+)/, "Opera"],
  [/\bFirefox\/(\d+)/, "Firefox"],
  [/\b(?:Headless)?Chrome\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+)/, "Safari"],
];

const systems: readonly (readonly [form: RegExp, name: string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** @param agent of the header User-Agent @returns such as `Chrome 131 on Linux`; an unknown one stays as it is */
export function browserName(agent: string): string {
  const found = browsers.flatMap(([form, name]) => {
    const version = form.exec(agent)?.[1];
    return version === undefined ? [] : [`${name} ${version}`];
  })[0];
  if (found === undefined) return agent === "" ? "Unknown" : agent;
  const system = systems.find(([form]) => form.test(agent))?.[1];
  return system === undefined ? found : `${found} on ${system}`;
}

// The second factor: its state, setting up an app, and ending it.

async function secondFactorSection(call: PageCall): Promise<Html> {
  const { sql, oidc } = call.parts.control;
  const view = await secondFactorOf(requirePerson(call).email, { sql, oidc: oidc !== null });
  const isRefused = call.refused?.action === "confirm-second-factor";
  const setUpButton = actionButton({
    action: call.path,
    label: "Set up an app",
    hidden: hiddenFields(call, "set-up-second-factor"),
  });
  const changes = markup`${codeAndButton(call, "set-up-second-factor", "Set up a new app")}
    ${view.demanded ? null : codeAndButton(call, "end-second-factor", "Turn it off")}`;
  const body = markup`${state(view)}${isRefused ? confirmForm(call) : null}
    ${view.enabled ? changes : markup`<div class="actions">${setUpButton}</div>`}`;
  return section("second-factor", "Second factor", body);
}

/** Proves who the person is before they change how they sign in. */
const presentCodeField: Field = {
  kind: "text",
  name: "code",
  label: "Code from your current app",
  hint: "Or a recovery code, if you have lost it.",
  required: true,
  autocomplete: "one-time-code",
  charactersMax: 40,
};

function codeAndButton(call: PageCall, action: "set-up-second-factor" | "end-second-factor", label: string): Html {
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
    return markup`<p>${word} You sign in with your password alone. With an app that shows one-time codes, a stolen password is not enough.</p>`;
  }
  const codes = left === 1 ? "1 recovery code is left." : `${left} recovery codes are left.`;
  const stays = demanded ? " Your role requires it; a new app replaces the old one." : "";
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

/** The person of the session: a second factor is their own, like a password. @throws DomainError forbidden */
function requirePerson({ viewer: { email } }: PageCall): Person {
  if (email === null) throw new DomainError("forbidden", "The operator has no second factor");
  return { kind: "person", email, carriedBy: "session" };
}

/** Like `requirePerson`, for actions that would let an intruder in. @throws DomainError forbidden, sign_in_again */
function recentPersonOf(call: PageCall, action: string): Person {
  requireRecentSignIn(call.viewer.session, { nowMs: call.nowMs, action });
  return requirePerson(call);
}
