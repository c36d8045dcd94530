/** The statement of a month, as a page to read and to print: every amount has all of its decimals. */
import { statementFile, type StatementView } from "../../../gateway/statements/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { formatUsd, parseUsd } from "../../../kernel/money.ts";
import { address } from "../../look/forms/address.ts";
import { facts } from "../../look/facts.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import { day } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import type { CsvFile, Page, PageCall, PageContent } from "../../page.ts";
import { pageSection } from "../../page-section.ts";
import { monthName } from "../spend/month-name.ts";
import { exactMoney } from "./exact-money.ts";
import { linesTable, movementsTable, ownKeyTable } from "./statement-tables.ts";
import { ofStatements, stateOf } from "./statements-page.ts";
import { utcTime } from "./utc-time.ts";

export const statementPage: Page = {
  ...ofStatements,
  path: "/statements/:number",
  navigation: null,
  render,
  csv,
};

function read(call: PageCall): Promise<StatementView> {
  return call.control<StatementView>("GET", `/statements/${encodeURIComponent(call.params["number"] ?? "")}`);
}

async function render(call: PageCall): Promise<PageContent> {
  const statement = await read(call);
  const { number, closed, lines } = statement;
  const json = address(`/api/console/statements/${number}`, { workspace: call.workspace.id });
  return {
    title: `Statement of ${monthName(number)}`,
    badge: stateOf(closed),
    trail: [{ path: call.link("/statements"), label: "Statements" }],
    lead: leadOf(statement),
    actions: markup`<a class="button quiet" href="${address(call.path, { as: "csv" })}">CSV</a>
      <a class="button quiet" href="${json}" download="statement-${number}.json">JSON</a>`,
    main: markup`${about(statement)}${balances(statement)}${movements(statement)}
      ${pageSection("charges", "Charges", lines.length === 0 ? nothing(call) : markup`${otherMonths(statement)}${linesTable(lines, statement.charges_usd)}`)}
      ${ownKeys(statement)}`,
  };
}

function leadOf({ closed, opening_balance_usd: opening }: StatementView): string {
  const whose = opening === undefined ? "It lists your keys and your Workbench alone. " : "";
  return closed
    ? `${whose}It is final. Your browser prints it, or saves it as PDF.`
    : `${whose}It grows until it closes: at the earliest 25 minutes after the month, when all of its requests have ended.`;
}

function about({ workspace, period, ledger, closed_at: closedAt, sha256 }: StatementView): Html {
  const last = new Date(Date.parse(period.to) - 1).toISOString();
  return facts([
    ["Workspace", markup`${userText(workspace.name)} <span class="under"><code>${workspace.id}</code></span>`],
    ["Period", `${day(period.from)} to ${day(last)} (UTC)`],
    ["Closed", closedAt === null ? "not yet" : utcTime(closedAt)],
    ...(ledger === undefined ? [] : ([["Ledger entries", entriesOf(ledger)]] as const)),
    ...(sha256 === undefined || sha256 === null ? [] : ([["SHA-256", markup`<code>${userText(sha256)}</code>`]] as const)),
  ]);
}

function entriesOf({ from_seq: from, to_seq: to }: NonNullable<StatementView["ledger"]>): string {
  return to < from ? "none" : `${from.toLocaleString("en-US")} to ${to.toLocaleString("en-US")}`;
}

/** Members see no balances. */
function balances(statement: StatementView): Html | null {
  const { opening_balance_usd: opening, closing_balance_usd: closing, credits = [], refunds = [] } = statement;
  if (opening === undefined || closing === undefined) return null;
  const rows = [
    { name: "Opening balance", usd: opening },
    { name: "+ Credits", usd: sumOf(credits) },
    { name: "− Refunds", usd: sumOf(refunds) },
    { name: "− Charges", usd: statement.charges_usd },
  ];
  const sum = table({
    caption: "Balance",
    columns: [
      { label: "Part", kind: "text", cell: ({ name }) => name },
      { label: "Amount", kind: "money", cell: ({ usd }) => exactMoney(usd) },
    ],
    rows,
    totals: ["Closing balance", exactMoney(closing)],
    empty: markup``,
  });
  return pageSection("balance", "Balance", sum);
}

function sumOf(movements: { usd: string }[]): string {
  return formatUsd(movements.reduce((sum, { usd }) => sum + parseUsd(usd), 0n));
}

function movements({ credits = [], refunds = [] }: StatementView): Html | null {
  const all = [...credits, ...refunds.map((refund) => ({ ...refund, usd: `-${refund.usd}` }))];
  if (all.length === 0) return null;
  return pageSection("movements", "Credits and refunds", movementsTable(all.toSorted(byTime)));
}

function byTime(one: { at: string }, other: { at: string }): number {
  return one.at < other.at ? -1 : 1;
}

/** Why the charges differ from the month's usage. */
function otherMonths({ of_previous_month_usd: previous, of_next_month_usd: next }: StatementView): Html | null {
  const parts = [
    ...(isSome(previous) ? [markup`${exactMoney(previous)} are of requests that were accepted before the month`] : []),
    ...(isSome(next) ? [markup`${exactMoney(next)} of requests that were accepted after it`] : []),
  ];
  if (parts.length === 0) return null;
  return markup`<p class="under">${parts.map((part, index) => markup`${index === 0 ? "" : ", "}${part}`)}. Each charge is in exactly one statement.</p>`;
}

function isSome(usd: string | undefined): usd is string {
  return usd !== undefined && parseUsd(usd) > 0n;
}

function ownKeys({ own_key: uses = [] }: StatementView): Html | null {
  return uses.length === 0 ? null : pageSection("own-keys", "Own provider keys", ownKeyTable(uses));
}

function nothing(call: PageCall): Html {
  return emptyState(
    "Nothing was charged.",
    markup`<a class="button quiet" href="${call.link("/requests")}">See the requests</a>`,
  );
}

async function csv(call: PageCall): Promise<CsvFile> {
  return statementFile(await read(call));
}
