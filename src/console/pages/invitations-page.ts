/**
 * Workspaces that invite the person to become a member. Nothing is granted or shown to them before the person accepts, and no workspace's
 * page is reachable until then.
 */
import { invitationEndpoints, sessionEndpoints } from "../../control-api/endpoints/accounts.ts";
import { markup, type Html } from "../../http/html.ts";
import { hiddenFields } from "../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../page.ts";
import { actionButton, emptyForm, form } from "../look/forms.ts";
import { emptyState, section } from "../look/parts.ts";
import { workspacePath } from "../redirect.ts";
import { invitationWords, type Invitation } from "../viewer.ts";

export const invitationsPage: Page = {
  of: "person",
  path: "/invitations",
  navigation: null,
  roles: [],
  render,
  actions: { accept, decline },
};

async function render(call: PageCall): Promise<PageContent> {
  const { invitations } = await call.control(sessionEndpoints.show);
  const none = emptyState("No invitations.", null);
  return {
    title: "Invitations",
    lead: "Until you accept, a workspace can do nothing in your name and learns nothing about you.",
    trail: [{ path: call.link("/account"), label: "Your account" }],
    main: invitations.length === 0 ? none : markup`${invitations.map((one, index) => invitation(one, index, call))}`,
  };
}

function invitation(one: Invitation, index: number, call: PageCall): Html {
  const hidden = (action: "accept" | "decline") => hiddenFields(call, action, { workspace: one.id, name: one.name });
  const accept = form({
    id: `accept-${index}`,
    action: call.path,
    hidden: hidden("accept"),
    fields: [],
    state: emptyForm,
    submit: "Accept",
  });
  const decline = actionButton({ action: call.path, label: "Decline", what: one.name, hidden: hidden("decline") });
  return section(`invitation-${index}`, one.name, markup`${invitationWords(one)}<div class="actions">${accept}${decline}</div>`);
}

async function accept(call: PageCall, typed: FormFields): Promise<ActionResult> {
  await call.control(invitationEndpoints.accept, { id: typed.text("workspace") });
  return { goTo: workspacePath(typed.text("name")), said: `You are a member of ${typed.text("name")} now.` };
}

async function decline(call: PageCall, typed: FormFields): Promise<ActionResult> {
  await call.control(invitationEndpoints.decline, { id: typed.text("workspace") });
  return { goTo: call.path, said: `You have declined the invitation to ${typed.text("name")}.` };
}
