/**
 * The link of an invitation, for an admin to hand over where no mail server is set up: created on purpose, shown once, and good for a day.
 * Whoever opens it becomes the invited person, so the page says by which way to send it. The endpoint decides where there are such links.
 */
import { memberEndpoints } from "../../../control-api/endpoints/members.ts";
import { markup } from "../../../http/html.ts";
import { emptyForm, form } from "../../look/forms.ts";
import { emptyState, closeButton, copyField, dialog, time, userText } from "../../look/parts.ts";
import { formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { roleName } from "../../viewer.ts";
import { findMember, memberPath } from "./member.ts";

export const invitationPage: Page = {
  of: "workspace",
  path: "/members/:id/invitation",
  navigation: null,
  roles: ["admin", "super_admin"],
  render,
  actions: { "create-link": createLink },
};

/** The path of the page of a person's invitation. */
export function invitationPath(email: string): string {
  return `${memberPath(email)}/invitation`;
}

const trailOf = (call: PageCall) => [{ path: call.link("/members"), label: "Members" }];

async function render(call: PageCall): Promise<PageContent> {
  const { email, role, state } = await findMember(call);
  const title = "The invitation as a link";
  if (state !== "pending") {
    const member = markup`<a class="button quiet" href="${call.link(memberPath(email))}">See the member</a>`;
    const words = markup`${userText(email)} has no open invitation, so there is no link to make.`;
    return { title, trail: trailOf(call), main: emptyState(words, member) };
  }
  const create = form({
    id: "create-link",
    action: call.path,
    hidden: hiddenFields(call, "create-link"),
    fields: [],
    state: call.refused === null ? emptyForm : formState(call, { action: "create-link" }),
    submit: "Create the link",
    cancelPath: call.link("/members"),
  });
  return {
    title,
    lead: markup`${userText(email)} is invited with the role ${roleName(role).toLowerCase()}.`,
    trail: trailOf(call),
    main: markup`<p>With the link they accept and sign in, once and within 24 hours. Whoever opens it becomes this person, so send it by a
      way that only they read. A new link replaces an earlier one, and the audit log names you.</p>
      ${signInFirst(call, "create the link") ?? create}`,
  };
}

async function createLink(call: PageCall): Promise<ActionResult> {
  const { email } = await findMember(call);
  const { url, expires_at: until } = await call.control(memberEndpoints.createLink, { id: email });
  const body = markup`<p>Send it to ${userText(email)}. It is shown only now, and works once, until ${time(until)}.</p>
    ${copyField({ id: "invitation-link", label: "Invitation", value: url })}${closeButton("I have copied it")}`;
  const thenPath = call.link("/members");
  return {
    show: {
      title: "The invitation as a link",
      trail: trailOf(call),
      main: markup`${dialog({ id: "made-link", title: "The invitation", body, asks: "always", opensAtOnce: true, thenPath })}
        <p>The invitation of ${userText(email)} has a link.</p><p class="actions"><a class="button" href="${thenPath}">See the members</a></p>`,
    },
  };
}
