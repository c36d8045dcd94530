/** The members of a workspace, and the form that invites one. */
import type { ListedMember } from "../../../accounts/workspaces/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { cursorLinks } from "../../look/cursor-links.ts";
import { dialog, opener } from "../../look/dialog.ts";
import { address } from "../../look/forms/address.ts";
import { money } from "../../look/money.ts";
import { emptyState } from "../../look/states.ts";
import { table, type Column } from "../../look/table.ts";
import { time } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import type { CsvFile, Page, PageCall, PageContent } from "../../page.ts";
import { roleName } from "../../role-name.ts";
import { invite, inviteForm } from "./invite.ts";
import { reasonAgainst } from "./member-rights.ts";
import { memberState } from "./member-state.ts";

export const membersPage: Page = {
  of: "workspace",
  path: "/members",
  navigation: { section: "Workspace", label: "Members", icon: "members" },
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
  actions: { invite },
  csv,
};

const rowsOfPage = 100;

function read(call: PageCall, limit: number): Promise<{ data: ListedMember[] }> {
  const after = call.query.get("after");
  return call.control("GET", "/members", { limit: String(limit), ...(after !== null && { after }) });
}

async function render(call: PageCall): Promise<PageContent> {
  const { data } = await read(call, rowsOfPage + 1);
  const rows = data.slice(0, rowsOfPage);
  const reason = reasonAgainst(call, { email: "", roles: ["member"], action: "add a member" });
  const invites =
    reason === null ? opener({ dialog: "invite", path: call.link("/members/new"), label: "Invite a member" }) : null;
  const last = data.length > rowsOfPage ? rows.at(-1) : undefined;
  return {
    title: "Members",
    lead: "People with a role in this workspace. Whoever leaves loses their keys here.",
    actions: markup`<a class="button quiet" href="${address(call.path, { as: "csv" })}">CSV</a>${invites}`,
    main: markup`${reason === null ? null : markup`<p class="hint">${reason}</p>`}${memberTable(rows, call)}
      ${cursorLinks({
        shown: `${rows.length} members`,
        firstPath: call.query.has("after") ? call.path : null,
        nextPath: last === undefined ? null : address(call.path, { after: last.email }),
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

function memberTable(rows: readonly ListedMember[], call: PageCall): Html {
  const name = ({ email }: ListedMember): Html =>
    markup`<a href="${call.link(`/members/${encodeURIComponent(email)}`)}">${userText(email)}</a>${email === call.viewer.email ? " (you)" : null}`;
  return table<ListedMember>({
    caption: "Members",
    columns: [
      { label: "Address", kind: "text", cell: name },
      { label: "Role", kind: "text", cell: ({ role }) => roleName(role) },
      { label: "State", kind: "badge", cell: ({ state }) => memberState(state) },
      ...(call.workspace.role === "member" ? [] : useColumns),
    ],
    rows,
    empty: emptyState("There is no further member.", null),
  });
}

const useColumns: Column<ListedMember>[] = [
  { label: "Keys", kind: "number", cell: ({ active_keys: keys }) => keys },
  { label: "Spent this month", kind: "money", cell: ({ month_spent_usd: spent }) => (spent === null ? null : money(spent)) },
  { label: "Last seen", kind: "time", cell: ({ last_seen_at: at }) => time(at, { never: "never" }) },
];

async function csv(call: PageCall): Promise<CsvFile> {
  const { data } = await read(call, 1_000);
  return {
    name: `members-${call.workspace.name}`,
    columns: ["email", "role", "state", "active_keys", "month_spent_usd", "last_seen_at"],
    rows: data.map((row) => [row.email, row.role, row.state, row.active_keys, row.month_spent_usd, row.last_seen_at]),
  };
}
