/** Ending a membership, which revokes the member's keys: the question, as a dialog or a page of its own. */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import type { ListedMember, MemberView } from "../../../accounts/workspaces/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { emptyForm, form } from "../../look/forms/form.ts";
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
  const count = keys.length === 1 ? "1 key" : `${keys.length} keys`;
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
  const { email, state } = await call.control<MemberView>("POST", `${memberPath(call.params["id"] ?? "")}/deactivate`);
  const said =
    state === "withdrawn"
      ? `The invitation of ${email} is taken back.`
      : `${email} is no longer a member. Their keys in this workspace are revoked.`;
  return { goTo: call.link(memberPath(email)), said };
}
