/** Workspaces that ask the person to become a member. Nothing is granted or shown to them before the person accepts. */
import type { IdentityView } from "../../../accounts/sessions/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { invitationWords, type Invitation } from "../../invitation-words.ts";
import { actionButton } from "../../look/forms/form.ts";
import { emptyState } from "../../look/states.ts";
import type { FormFields } from "../../form.ts";
import { hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { workspacePath } from "../../redirect.ts";

export const invitationsPage: Page = {
  of: "person",
  path: "/invitations",
  navigation: null,
  roles: [],
  render,
  actions: { accept, decline },
};

async function render(call: PageCall): Promise<PageContent> {
  const { invitations } = await call.control<IdentityView>("GET", "/session");
  const none = emptyState("No workspace has invited you.", null);
  return {
    title: "Invitations",
    lead: "A workspace can do nothing in your name, and sees nothing of you, until you accept.",
    trail: [{ path: call.link("/account"), label: "Your account" }],
    main: invitations.length === 0 ? none : markup`${invitations.map((one) => invitation(one, call))}`,
  };
}

function invitation(one: Invitation, call: PageCall): Html {
  const button = (action: keyof NonNullable<Page["actions"]>, label: string): Html =>
    actionButton({
      action: call.path,
      label,
      what: one.name,
      hidden: hiddenFields(call, action, { workspace: one.id, name: one.name }),
    });
  return markup`<section aria-label="${one.name}">${invitationWords(one)}
    <div class="actions">${button("accept", "Accept")}${button("decline", "Decline")}</div></section>`;
}

async function accept(call: PageCall, typed: FormFields): Promise<ActionResult> {
  await call.control("POST", `/invitations/${encodeURIComponent(typed.text("workspace"))}/accept`);
  return { goTo: workspacePath(typed.text("workspace")), said: `You are a member of ${typed.text("name")} now.` };
}

async function decline(call: PageCall, typed: FormFields): Promise<ActionResult> {
  await call.control("POST", `/invitations/${encodeURIComponent(typed.text("workspace"))}/decline`);
  return { goTo: call.path, said: `You have declined the invitation to ${typed.text("name")}.` };
}
