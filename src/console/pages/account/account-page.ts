/** The person's own account: password and sessions. */
import { DomainError } from "../../../accounts/errors.ts";
import { type SessionView, requireRecentSignIn } from "../../../accounts/sessions/session.ts";
import type { Person } from "../../../accounts/members/principal.ts";
import { linkNeeded, passwordProofOf, requirePasswordProof } from "../../../accounts/second-factor/proofs.ts";
import { requireStrong, setPassword } from "../../../accounts/sessions/passwords.ts";
import { passwordCharactersMin } from "../../../accounts/limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { badge } from "../../look/badge.ts";
import type { Field } from "../../look/forms/field.ts";
import { actionButton, form } from "../../look/forms/form.ts";
import { table } from "../../look/table.ts";
import { time } from "../../look/time.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { browserName } from "./browser-name.ts";
import { presentCodeField, secondFactorActions, secondFactorSection } from "./second-factor-section.ts";

export const accountPage: Page = {
  of: "person",
  path: "/account",
  navigation: null,
  roles: [],
  render,
  actions: { password: choosePassword, end: endSession, ...secondFactorActions },
};

async function render(call: PageCall): Promise<PageContent> {
  const { email } = call.viewer;
  if (email === null)
    return { title: "Operator", main: markup`<p>You hold the operator token, which is no person's account.</p>` };
  const { data } = await call.control<{ data: SessionView[] }>("GET", "/sessions");
  return {
    title: "Your account",
    lead: email,
    main: markup`<section aria-labelledby="password-title"><h2 id="password-title">Password</h2>${await passwordForm(call, email)}</section>
      ${await secondFactorSection(call)}
      <section aria-labelledby="sessions-title"><h2 id="sessions-title">Sessions</h2>${sessions(data, call)}</section>`,
  };
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
      label: "Present password",
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
  // What cannot be taken is refused before a code is used up.
  requireStrong(password, email);
  const given = { present: typed.raw("present_password"), code: typed.text("code") };
  await requirePasswordProof({ person: personOf(email), session, given }, { ...control, passwords });
  await setPassword({ email, carriedBy: "session", password, except: session.id }, { ...control, passwords });
  return { goTo: path, said: "The password is set." };
}

async function endSession({ control, path }: PageCall, typed: FormFields): Promise<ActionResult> {
  await control("DELETE", `/sessions/${encodeURIComponent(typed.text("session"))}`);
  return { goTo: path, said: "The session has ended." };
}
