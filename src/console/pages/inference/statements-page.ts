/**
 * The statements of a workspace, one for each month, the open one first. Members see what they were charged; balances are for auditors and
 * admins.
 */
import { statementEndpoints } from "../../../control-api/endpoints/usage.ts";
import type { StatementList, StatementRow } from "../../../gateway/statements/schema.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { address } from "../../look/forms.ts";
import { badge, emptyState } from "../../look/parts.ts";
import { cursorLinks, table, type Column } from "../../look/table.ts";
import { money, time } from "../../look/values.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { monthName } from "./day-zone.ts";

/** What the pages of statements share. */
export const ofStatements = {
  of: "workspace",
  roles: ["member", "auditor", "admin", "super_admin"],
  earlyAccess: "usage_statements",
} as const;

export const statementsPage: Page = {
  ...ofStatements,
  path: "/statements",
  navigation: { section: "Inference", label: "Statements", icon: "ledger" },
  render,
  csv,
};

export function stateOf(closed: boolean): Html {
  return closed ? badge("good", "Closed") : badge("neutral", "Open");
}

function read(call: PageCall): Promise<StatementList> {
  const before = call.query.get("before");
  return call.control(statementEndpoints.list, before ? { before } : {});
}

async function render(call: PageCall): Promise<PageContent> {
  const { data, next } = await read(call);
  const isMember = call.workspace.role === "member";
  return {
    title: "Statements",
    lead: isMember
      ? "What your keys and your Workbench were charged, by month. Balances are shown to auditors and admins."
      : "What each month did to the workspace’s credit. A statement closes some time after its month in UTC, and never changes then.",
    actions: markup`<a class="button quiet" href="${address(call.path, { ...Object.fromEntries(call.query), as: "csv" })}">CSV</a>`,
    main: markup`${table({
      caption: "Statements",
      columns: isMember ? ownColumns(call) : columns(call),
      rows: data,
      empty: emptyState(
        "There are no statements of these months.",
        markup`<a class="button quiet" href="${call.path}">Show all</a>`,
      ),
    })}
      ${cursorLinks({
        shown: `${data.length} statements`,
        firstPath: call.query.get("before") ? call.path : null,
        nextPath: next === null ? null : address(call.path, { before: next }),
      })}`,
  };
}

function ownColumns(call: PageCall): Column<StatementRow>[] {
  return [
    { label: "Month", kind: "text", cell: ({ number }) => nameOf(number, call) },
    { label: "State", kind: "badge", cell: ({ closed }) => stateOf(closed) },
    { label: "Closed", kind: "time", cell: ({ closed_at: at }) => time(at, { never: "not yet" }) },
  ];
}

function columns(call: PageCall): Column<StatementRow>[] {
  const amount = (usd: string | undefined): Html | null => (usd === undefined ? null : money(usd));
  return [
    { label: "Month", kind: "text", cell: ({ number }) => nameOf(number, call) },
    { label: "State", kind: "badge", cell: ({ closed }) => stateOf(closed) },
    { label: "Opening balance", kind: "money", cell: (row) => amount(row.opening_balance_usd) },
    { label: "Credits", kind: "money", cell: (row) => amount(row.credits_usd) },
    { label: "Refunds", kind: "money", cell: (row) => amount(row.refunds_usd) },
    { label: "Charges", kind: "money", cell: (row) => amount(row.charges_usd) },
    { label: "Closing balance", kind: "money", cell: (row) => amount(row.closing_balance_usd) },
  ];
}

function nameOf(number: string, call: PageCall): Html {
  return markup`<a href="${call.link(`/statements/${number}`)}">${monthName(number)}</a>`;
}

async function csv(call: PageCall): Promise<CsvFile> {
  const { data } = await read(call);
  const names = [
    "number",
    "closed_at",
    "opening_balance_usd",
    "credits_usd",
    "refunds_usd",
    "charges_usd",
    "closing_balance_usd",
    "sha256",
  ] as const;
  return {
    name: `statements-${call.workspace.name}`,
    columns: names,
    rows: data.map((row) => names.map((name) => row[name] ?? null)),
  };
}
