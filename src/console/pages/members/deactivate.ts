/** Ending a membership, which revokes the member's keys: the question, as a dialog or a page of its own. */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import type { ListedMember, MemberView } from "../../../accounts/workspaces/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { confirmForm } from "../../look/forms/form.ts";
import { userText } from "../../look/user-text.ts";
import { hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { findMember, keysOf, memberPath } from "./find-member.ts";

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

/** More are counted. */
const namesMax = 20;

export function deactivateForm({ email }: ListedMember, keys: readonly KeyView[], call: PageCall): Html {
  const named = keys.slice(0, namesMax).map(({ name, masked }) => markup`<li>${userText(name)} <code>${masked}</code></li>`);
  const more = keys.length > namesMax ? markup`<li>and ${keys.length - namesMax} more</li>` : null;
  const revokes =
    keys.length === 0
      ? markup` They have no active key here.`
      : markup` This revokes ${keys.length} ${keys.length === 1 ? "key" : "keys"}, which stop working within 30 seconds and cannot be restored.`;
  const warning = markup`${userText(email)} loses access to this workspace and is signed out.${revokes}`;
  const list = named.length === 0 ? null : markup`<ul class="revoked-keys">${named}${more}</ul>`;
  return markup`${list}${confirmForm({
    id: "deactivate",
    warning,
    action: call.link(memberPath(email)),
    hidden: hiddenFields(call, "deactivate"),
    submit: "Deactivate",
    cancelPath: call.link(memberPath(email)),
  })}`;
}

export async function deactivate(call: PageCall): Promise<ActionResult> {
  const { email } = await call.control<MemberView>("POST", `${memberPath(call.params["id"] ?? "")}/deactivate`);
  return {
    goTo: call.link(memberPath(email)),
    said: `${email} is no member any more. Their keys in this workspace are revoked.`,
  };
}
