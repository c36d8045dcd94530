/** Making a person a member: the form, as a dialog or a page of its own. */
import type { MemberView } from "../../../accounts/workspaces/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { form } from "../../look/forms/form.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { signInFirst } from "../../recent-sign-in.ts";
import { isOperator } from "../../viewer.ts";
import { roleChoices } from "./role-words.ts";

export const invitePage: Page = {
  of: "workspace",
  path: "/members/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  render,
  actions: { invite },
};

async function render(call: PageCall): Promise<PageContent> {
  return {
    title: "Invite a member",
    trail: [{ path: call.link("/members"), label: "Members" }],
    main: inviteForm(call, call.link("/members/new")),
  };
}

export function inviteForm(call: PageCall, action: string): Html {
  const first = signInFirst(call, "add an admin");
  const choices = roleChoices(call, { email: "", adds: first === null ? "everyone" : "no admins" });
  const body = form({
    id: "invite",
    action,
    hidden: hiddenFields(call, "invite"),
    fields: [
      { kind: "email", name: "email", label: "E-mail address", hint: mailHint(call), required: true, charactersMax: 254 },
      { kind: "radios", name: "role", label: "Role in this workspace", choices },
    ],
    state: formState(call, { action: "invite", values: { role: "member" } }),
    submit: "Invite",
    cancelPath: call.link("/members"),
  });
  return markup`${body}${first}`;
}

function mailHint({ parts, viewer }: PageCall): string {
  const link = isOperator(viewer)
    ? "They are a member at once, and get a mail with a link that signs them in, once and within 24 hours."
    : "They get a mail with a link, good for 24 hours, and become a member by accepting.";
  return parts.sendsMail
    ? link
    : `No mail server is set up: the mail waits until there is one. Meanwhile the operator can create a sign-in link.`;
}

export async function invite(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const asked = { email: typed.text("email"), role: typed.text("role"), invite: true };
  const member = await call.control<MemberView>("POST", "/members", asked);
  return { goTo: call.link("/members"), said: invitedWords(member, call) };
}

/** What became of an invitation, in words. */
export function invitedWords({ email, state }: MemberView, { parts }: PageCall): string {
  const mail = parts.sendsMail ? "A mail with a link is on its way" : "The mail waits, because no mail server is set up";
  return state === "pending"
    ? `${email} is invited, and becomes a member by accepting. ${mail}.`
    : `${email} is a member now. ${mail}.`;
}
