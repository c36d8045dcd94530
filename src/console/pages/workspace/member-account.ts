/**
 * Ends a membership, which revokes the member's keys in the workspace. The operator can also stop a person's account or reset their
 * sign-in, for every workspace. Each confirmation is a dialog, or a separate page without a script.
 */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import type { AccountVerb } from "../../../accounts/members/accounts.ts";
import type { ListedMember } from "../../../accounts/workspaces/schema.ts";
import { accountEndpoints, sessionEndpoints } from "../../../control-api/endpoints/accounts.ts";
import { memberEndpoints } from "../../../control-api/endpoints/members.ts";
import { markup, type Html } from "../../../http/html.ts";
import { actionButton, confirmForm, emptyForm, form } from "../../look/forms.ts";
import { copyField, closeButton, dialog, opener, section, time, userText } from "../../look/parts.ts";
import { hiddenFields, signInFirst } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { findMember, memberPath, keysOf } from "./member.ts";

/** For browsers without script, where the dialog cannot open. No role: only the operator sees it. */
export const deleteAccountPage: Page = {
  of: "workspace",
  path: "/members/:id/delete",
  navigation: null,
  roles: [],
  render: renderDelete,
  actions: { delete: accountAction("delete") },
};

export const accountActions: NonNullable<Page["actions"]> = {
  suspend: accountAction("suspend"),
  unsuspend: accountAction("unsuspend"),
  lock: accountAction("lock"),
  unlock: accountAction("unlock"),
  delete: accountAction("delete"),
  reset: resetSignIn,
  link: createLink,
};

interface Step {
  verb: AccountVerb;
  label: string;
}

/** What an account of each state can become, apart from deleted. */
const stepsOfStopped: Record<string, Step[]> = {
  suspended: [{ verb: "unsuspend", label: "End the suspension" }],
  locked: [{ verb: "unlock", label: "Unlock" }],
};

/** Every other state belongs to the membership, even one that was not accepted. */
const stepsOfOthers: Step[] = [
  { verb: "suspend", label: "Suspend" },
  { verb: "lock", label: "Lock" },
];

const done: Record<AccountVerb, string> = {
  suspend: "is suspended. Their keys stop within 30 seconds",
  unsuspend: "is active again, and their keys work",
  lock: "is locked. Their keys stop within 30 seconds",
  unlock: "is active again, and their keys work",
  delete: "is deleted",
};

/** null: the viewer is not the operator. */
export function accountSection(member: ListedMember, call: PageCall): Html | null {
  if (call.workspace.role !== "operator") return null;
  const { email, state } = member;
  if (state === "deleted") return section("account", "Account", markup`<p>The account is deleted, for good.</p>`);
  const isStopped = state in stepsOfStopped;
  const buttons = (stepsOfStopped[state] ?? stepsOfOthers).map(({ verb, label }) =>
    actionButton({ action: call.path, label, what: email, hidden: hiddenFields(call, verb) }),
  );
  const remove = opener({
    dialog: "delete-account",
    path: call.link(`${memberPath(email)}/delete`),
    label: "Delete the account",
    quiet: true,
  });
  return section(
    "account",
    "Account",
    markup`<p class="hint">The account belongs to the person in all workspaces. While it is suspended or locked, they are signed out and their keys are refused.</p>
      <div class="form-end">${buttons}${remove}</div>
      ${dialog({ id: "delete-account", title: `Delete the account ${email}?`, body: deleteForm(member, call), asks: null })}
      ${isStopped ? null : signInPart(email, call)}`,
  );
}

function signInPart(email: string, call: PageCall): Html {
  const first = signInFirst(call, "create a sign-in link or reset the sign-in");
  const linking = actionButton({
    action: call.path,
    label: "Create a sign-in link",
    what: `for ${email}`,
    hidden: hiddenFields(call, "link"),
  });
  const resetting = actionButton({
    action: call.path,
    label: "Reset the sign-in",
    what: `of ${email}`,
    hidden: hiddenFields(call, "reset"),
  });
  return markup`<p class="hint">A sign-in link signs this person in once, within an hour. Send it over a secure channel: anyone who opens it is signed in as this person.</p>
    <p class="hint">A reset removes the second factor and the link to the OpenID Connect provider, and signs the person out. The password stays.</p>
    ${first ?? markup`<div class="form-end">${linking}${resetting}</div>`}`;
}

function deleteForm({ email }: ListedMember, call: PageCall): Html {
  return confirmForm({
    id: "delete-account",
    warning: markup`The account ${userText(email)} is signed out and loses all its workspaces, and its keys stop in each of them within 30 seconds. This cannot be undone.`,
    action: call.link(memberPath(email)),
    hidden: hiddenFields(call, "delete"),
    submit: "Delete the account",
    cancelPath: call.link(memberPath(email)),
  });
}

async function renderDelete(call: PageCall): Promise<PageContent> {
  const member = await findMember(call);
  return {
    title: `Delete the account ${member.email}?`,
    trail: [
      { path: call.link("/members"), label: "Members" },
      { path: call.link(memberPath(member.email)), label: member.email },
    ],
    main: member.state === "deleted" ? markup`<p>The account is deleted already.</p>` : deleteForm(member, call),
  };
}

function accountAction(verb: AccountVerb) {
  return async (call: PageCall): Promise<ActionResult> => {
    const { email } = await findMember(call);
    await call.control(accountEndpoints[verb], { id: email });
    return { goTo: call.link(memberPath(email)), said: `The account ${email} ${done[verb]}.` };
  };
}

async function resetSignIn(call: PageCall): Promise<ActionResult> {
  const { email } = await findMember(call);
  await call.control(accountEndpoints.reset, { id: email });
  return {
    goTo: call.link(memberPath(email)),
    said: `${email} signs in without a second factor next time, and sets up a new one.`,
  };
}

/** The answer is the only page that ever shows the link. */
async function createLink(call: PageCall): Promise<ActionResult> {
  const { email } = await findMember(call);
  const { url, expires_at: expires } = await call.control(sessionEndpoints.createLink, {
    email,
  });
  const body = markup`<p>It signs in ${userText(email)}, once and until ${time(expires)}. It is shown only once.</p>
    ${copyField({ id: "sign-in-link", label: "Sign-in link", value: url })}${closeButton("I have passed it on")}`;
  return {
    show: {
      title: email,
      trail: [{ path: call.link("/members"), label: "Members" }],
      main: markup`${dialog({ id: "created-link", title: "A sign-in link", body, asks: "always", opensAtOnce: true })}
        <p><a class="button" href="${call.link(memberPath(email))}">See the member</a></p>`,
    },
  };
}

// Ending a membership, which revokes the member's keys: the confirmation, as a dialog or a separate page.

/** For browsers without script, where the dialog cannot open. */
export const deactivatePage: Page = {
  of: "workspace",
  path: "/members/:id/deactivate",
  navigation: null,
  roles: ["admin", "super_admin"],
  render,
  actions: { deactivate },
};

async function render(call: PageCall): Promise<PageContent> {
  const member = await findMember(call);
  const { email, state } = member;
  return {
    title: `Deactivate ${email}?`,
    trail: [
      { path: call.link("/members"), label: "Members" },
      { path: call.link(memberPath(email)), label: email },
    ],
    main:
      state === "deactivated"
        ? markup`<p>The membership has ended already.</p>`
        : deactivateForm(member, await keysOf(member, call), call),
  };
}

/** @param keys the first ones; further names are only counted */
export function deactivateForm({ email, active_keys: all }: ListedMember, keys: readonly KeyView[], call: PageCall): Html {
  const named = keys.map(({ name, masked }) => markup`<li>${userText(name)} <code>${masked}</code></li>`);
  const further = (all ?? 0) - keys.length;
  const more = further > 0 ? markup`<li>and ${further} more</li>` : null;
  const count = all === 1 ? "1 key" : `${all} keys`;
  const revokes =
    keys.length === 0
      ? markup`<p>They have no active key here.</p>`
      : markup`<p>This revokes ${count}, which stop working within 30 seconds and cannot be restored:</p><ul>${named}${more}</ul>`;
  return markup`<p class="warning">${userText(email)} loses access to this workspace.</p>${revokes}
    ${form({
      id: "deactivate",
      action: call.link(memberPath(email)),
      hidden: hiddenFields(call, "deactivate"),
      fields: [],
      state: emptyForm,
      submit: "Deactivate",
      tone: "bad",
      cancelPath: call.link(memberPath(email)),
    })}`;
}

export async function deactivate(call: PageCall): Promise<ActionResult> {
  const { email, state } = await call.control(memberEndpoints.deactivate, { id: call.params["id"] ?? "" });
  const said =
    state === "withdrawn"
      ? `The invitation of ${email} is taken back.`
      : `${email} is no longer a member. Their keys in this workspace are revoked.`;
  return { goTo: call.link(memberPath(email)), said };
}
