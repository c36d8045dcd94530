/**
 * The members of a workspace, and the form that invites one. An invitation grants nothing until the person accepts it; the operator's is
 * in force at once.
 */
import type { ListedMember, MemberView } from "../../../accounts/workspaces/schema.ts";
import { memberEndpoints } from "../../../control-api/endpoints/members.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { parseUsd } from "../../../kernel/money.ts";
import { formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { FormFields, Page, PageCall, PageContent, ActionResult } from "../../page.ts";
import { chartScript } from "../../look/charts.ts";
import { address, findForm, form } from "../../look/forms.ts";
import { arrangedList, type ListColumn } from "../../look/list-view.ts";
import { dialog, opener, emptyState, cursorLinks, money, time, userText } from "../../look/parts.ts";
import { roleName, isOperator } from "../../viewer.ts";
import { zoneScript } from "../inference/day-zone.ts";
import { invitationPath } from "./invitation-page.ts";
import { reasonAgainst, memberState, roleChoices } from "./member.ts";

export const membersPage: Page = {
  of: "workspace",
  path: "/members",
  list: "members",
  navigation: { section: "Workspace", label: "Members", icon: "members" },
  reference: "control-accounts",
  roles: ["member", "auditor", "admin", "super_admin"],
  // A member's page in the drawer needs them.
  scripts: [zoneScript, chartScript],
  render,
  actions: { invite },
  csv,
};

const rowsOfPage = 100;

function textOf({ query }: PageCall): string {
  return query.get("text")?.trim() ?? "";
}

function read(call: PageCall, limit: number): Promise<{ data: ListedMember[] }> {
  const after = call.query.get("after");
  const text = textOf(call);
  return call.control(memberEndpoints.list, {
    limit: String(limit),
    ...(after !== null && { after }),
    ...(text !== "" && { text }),
  });
}

async function render(call: PageCall): Promise<PageContent> {
  const { data } = await read(call, rowsOfPage + 1);
  const rows = data.slice(0, rowsOfPage);
  const reason = reasonAgainst(call, { email: "", roles: ["member"], action: "add a member" });
  const invites =
    reason === null ? opener({ dialog: "invite", path: call.link("/members/new"), label: "Invite a member" }) : null;
  const last = data.length > rowsOfPage ? rows.at(-1) : undefined;
  const text = textOf(call);
  const list = memberList(rows, { call, isWhole: last === undefined && !call.query.has("after") });
  const find = findForm({ path: call.path, label: "A part of the address", text, rows: rows.length, kept: list.kept });
  return {
    title: "Members",
    lead: "People with a role in this workspace. Members who leave lose their keys here.",
    actions: markup`<a class="button quiet" href="${address(call.path, { text: textOf(call), as: "csv" })}">CSV</a>${list.view}${invites}`,
    main: markup`${reason === null ? null : markup`<p class="hint">${reason}</p>`}${find}${list.table}
      ${cursorLinks({
        shown: `${rows.length} members`,
        firstPath: call.query.has("after") ? address(call.path, { ...list.kept, text }) : null,
        nextPath: last === undefined ? null : address(call.path, { ...list.kept, text, after: last.email }),
      })}
      ${reason === null ? inviteDialog(call) : null}`,
  };
}

function inviteDialog(call: PageCall): Html {
  const body = inviteForm(call, call.link("/members"));
  return dialog({
    id: "invite",
    title: "Invite a member",
    body,
    asks: "changes",
    opensAtOnce: call.refused?.action === "invite",
  });
}

function memberList(rows: readonly ListedMember[], { call, isWhole }: { call: PageCall; isWhole: boolean }) {
  const name = ({ email }: ListedMember): Html =>
    markup`<a href="${call.link(`/members/${encodeURIComponent(email)}`)}">${userText(email)}</a>${email === call.viewer.email ? " (you)" : null}`;
  const columns: ListColumn<ListedMember>[] = [
    { name: "address", label: "Address", kind: "text", cell: name, by: ({ email }) => email },
    { name: "role", label: "Role", kind: "text", cell: ({ role }) => roleName(role), by: ({ role }) => roleName(role) },
    { name: "state", label: "State", kind: "badge", cell: (member) => stateCell(member, call), by: ({ state }) => state },
    ...(call.workspace.role === "member" ? [] : useColumns),
  ];
  const empty = emptyState(textOf(call) === "" ? "No more members." : "No member has this text in the address.", null);
  return arrangedList({ caption: "Members", columns, rows, empty, isWhole, order: "in order of addresses" }, call);
}

/** An invitation that no mail carries has a link to hand over. */
function stateCell({ email, role, state }: ListedMember, call: PageCall): Html {
  const badge = memberState(state);
  if (state !== "pending" || call.parts.control.sendsMail) return badge;
  if (reasonAgainst(call, { email, roles: [role], action: "create an invitation link" }) !== null) return badge;
  return markup`${badge} <a href="${call.link(invitationPath(email))}">Copy the invitation<span class="unseen"> of ${userText(email)}</span></a>`;
}

const useColumns: readonly ListColumn<ListedMember>[] = [
  {
    name: "keys",
    label: "Keys",
    kind: "number",
    cell: ({ active_keys: keys }) => keys,
    by: ({ active_keys: keys }) => keys,
  },
  {
    name: "month",
    label: "Spent this month",
    kind: "money",
    cell: ({ month_spent_usd: spent }) => (spent === null ? null : money(spent)),
    by: ({ month_spent_usd: spent }) => (spent === null ? null : parseUsd(spent)),
  },
  {
    name: "seen",
    label: "Last seen",
    kind: "time",
    cell: ({ last_seen_at: at }) => time(at, { never: "never" }),
    by: ({ last_seen_at: at }) => at,
  },
];

async function csv(call: PageCall): Promise<CsvFile> {
  const { data } = await read(call, 1_000);
  return {
    name: `members-${call.workspace.name}`,
    columns: ["email", "role", "state", "active_keys", "month_spent_usd", "last_seen_at"],
    rows: data.map((row) => [row.email, row.role, row.state, row.active_keys, row.month_spent_usd, row.last_seen_at]),
  };
}

// Inviting a person: the form, as a dialog or a separate page.

export const invitePage: Page = {
  of: "workspace",
  path: "/members/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  render: renderInvite,
  actions: { invite },
};

/** The outcome of an invitation, in words. */
export function invitedWords({ email, state }: MemberView, { parts }: PageCall): string {
  const { sendsMail } = parts.control;
  const mail = sendsMail ? " A mail with a link is on its way." : " No mail server is set up, so the mail waits.";
  return state === "pending"
    ? `${email} is invited, and becomes a member by accepting.${mail}`
    : `${email} is a member now.${mail}`;
}

async function renderInvite(call: PageCall): Promise<PageContent> {
  return {
    title: "Invite a member",
    trail: [{ path: call.link("/members"), label: "Members" }],
    main: inviteForm(call, call.link("/members/new")),
  };
}

function inviteForm(call: PageCall, action: string): Html {
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
  if (parts.control.sendsMail) return link;
  const instead = isOperator(viewer) ? "create a sign-in link on their page" : "you get a link to hand over";
  return `No mail server is set up, so the mail waits until there is one: ${instead}.`;
}

async function invite(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const asked = { email: typed.text("email"), role: typed.text("role"), invite: true };
  const member = await call.control(memberEndpoints.add, asked);
  const byHand = member.state === "pending" && !call.parts.control.sendsMail;
  const goTo = call.link(byHand ? invitationPath(member.email) : "/members");
  return { goTo, said: invitedWords(member, call) };
}
