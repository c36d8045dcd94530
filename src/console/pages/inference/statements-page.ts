/**
 * The statements of a workspace, one for each month, the open one first; and the statement of a month, to read and to print. Members see
 * what they were charged; balances are for auditors and admins.
 *
 * Every amount is rounded to cents with the exact one beneath, and only the exact ones add up. No table has more than five columns, so that
 * they stay tables on paper. Pages show the largest lines; the files have all of them.
 */
import { statementEndpoints } from "../../../control-api/endpoints/usage.ts";
import {
  type StatementList,
  type StatementRow,
  statementFile,
  type StatementView,
  type Line,
  type Movement,
  type OwnKeyUse,
} from "../../../gateway/statements/schema.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { formatUsd, parseUsd } from "../../../kernel/money.ts";
import { statementLinesShownMax } from "../../limits.ts";
import { parties, roundedMoney, type PrintedParty } from "../../look/documents.ts";
import { address } from "../../look/forms.ts";
import { arrangedList, type ListColumn } from "../../look/list-view.ts";
import {
  badge,
  emptyState,
  cursorLinks,
  table,
  money,
  time,
  facts,
  section,
  notice,
  day,
  userText,
  exactMoney,
  utcTime,
} from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { monthName } from "./day-zone.ts";

/** What the pages of statements share. */
const ofStatements = {
  of: "workspace",
  roles: ["member", "auditor", "admin", "super_admin"],
  earlyAccess: "usage_statements",
} as const;

export const statementsPage: Page = {
  ...ofStatements,
  path: "/statements",
  list: "statements",
  navigation: { section: "Inference", label: "Statements", icon: "ledger" },
  reference: "control-inference",
  render,
  csv,
};

function stateOf(closed: boolean): Html {
  return closed ? badge("good", "Closed") : badge("neutral", "Open");
}

function read(call: PageCall): Promise<StatementList> {
  const before = call.query.get("before");
  return call.control(statementEndpoints.list, before ? { before } : {});
}

async function render(call: PageCall): Promise<PageContent> {
  const { data, next } = await read(call);
  const isMember = call.workspace.role === "member";
  const isWhole = next === null && !call.query.get("before");
  const list = arrangedList<StatementRow>(
    {
      caption: "Statements",
      columns: isMember ? ownColumns(call) : columns(call),
      rows: data,
      empty: emptyState("No statements for these months.", markup`<a class="button quiet" href="${call.path}">Show all</a>`),
      isWhole,
      order: "newest first",
    },
    call,
  );
  return {
    title: "Statements",
    lead: isMember
      ? "What your keys and your Workbench were charged, by month. Balances are shown to auditors and admins."
      : "What each month did to the workspace’s credit. A statement closes after the end of its month in UTC. It never changes after that.",
    actions: markup`${call.offers("/billing") ? markup`<a class="button quiet" href="${call.link("/billing")}">Billing details</a>` : null}<a class="button quiet" href="${address(call.path, { ...Object.fromEntries(call.query), as: "csv" })}">CSV</a>${list.view}`,
    main: markup`${list.table}
      ${cursorLinks({
        shown: `${data.length} statements`,
        firstPath: call.query.get("before") ? address(call.path, list.kept) : null,
        nextPath: next === null ? null : address(call.path, { ...list.kept, before: next }),
      })}`,
  };
}

function monthColumns(call: PageCall): ListColumn<StatementRow>[] {
  return [
    {
      name: "month",
      label: "Month",
      kind: "text",
      cell: ({ number }) => nameOf(number, call),
      by: ({ number }) => number,
      largestFirst: true,
    },
    { name: "state", label: "State", kind: "badge", cell: ({ closed }) => stateOf(closed), by: ({ closed }) => Number(closed) },
  ];
}

function closedColumn(isExtra: boolean): ListColumn<StatementRow> {
  const cell = ({ closed_at: at }: StatementRow): Html => time(at, { never: "not yet" });
  return { name: "closed", label: "Closed", kind: "time", cell, by: ({ closed_at: at }) => at, isExtra };
}

function ownColumns(call: PageCall): ListColumn<StatementRow>[] {
  return [...monthColumns(call), closedColumn(false)];
}

function columns(call: PageCall): ListColumn<StatementRow>[] {
  const amount = (name: string, label: string, of: (row: StatementRow) => string | undefined): ListColumn<StatementRow> => ({
    name,
    label,
    kind: "money",
    cell: (row) => {
      const usd = of(row);
      return usd === undefined ? null : money(usd);
    },
    by: (row) => parseUsd(of(row) ?? "0"),
  });
  return [
    ...monthColumns(call),
    amount("opening", "Opening balance", (row) => row.opening_balance_usd),
    amount("credits", "Credits", (row) => row.credits_usd),
    amount("refunds", "Refunds", (row) => row.refunds_usd),
    amount("charges", "Charges", (row) => row.charges_usd),
    amount("closing", "Closing balance", (row) => row.closing_balance_usd),
    closedColumn(true),
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

// One statement.

export const statementPage: Page = {
  ...ofStatements,
  path: "/statements/:number",
  navigation: null,
  render: renderStatement,
  csv: csvOfStatement,
};

function readStatement(call: PageCall): Promise<StatementView> {
  return call.control(statementEndpoints.show, { id: call.params["number"] ?? "" });
}

async function renderStatement(call: PageCall): Promise<PageContent> {
  const statement = await readStatement(call);
  const { number, closed, lines } = statement;
  const json = address(`/api/console/statements/${number}`, { workspace: call.workspace.id });
  return {
    title: `Statement of ${monthName(number)}`,
    badge: stateOf(closed),
    trail: [{ path: call.link("/statements"), label: "Statements" }],
    lead: leadOf(statement),
    actions: markup`<a class="button quiet" href="${address(call.path, { as: "csv" })}">CSV</a>
      <a class="button quiet" href="${json}" download="statement-${number}.json">JSON</a>`,
    main: markup`${partiesOf(statement, call)}${about(statement)}${balances(statement)}${movements(statement)}
      ${section("charges", "Charges", lines.length === 0 ? nothing(call) : markup`${otherMonths(statement)}${linesTable(lines, statement.charges_usd)}`)}
      ${taxOf(statement)}${ownKeys(statement)}
      <p class="under">Amounts are in USD, rounded to cents, with the exact amount beneath. Only the exact amounts add up.</p>`,
  };
}

/** Members see no parties. */
function partiesOf({ seller, buyer }: StatementView, call: PageCall): Html | null {
  if (seller === undefined || buyer === undefined) return null;
  const known = [...(seller === null ? [] : [printed("Seller", seller)]), ...(buyer === null ? [] : [printed("Buyer", buyer)])];
  const hint = buyer === null ? detailsHint(call) : null;
  return markup`${known.length === 0 ? null : parties(known)}${hint}`;
}

function printed(
  role: string,
  { name, address: lines, tax_number: taxNumber }: NonNullable<StatementView["seller"]>,
): PrintedParty {
  return { role, name, address: lines, taxNumber };
}

/** For those who may set them; it is not printed. */
function detailsHint(call: PageCall): Html | null {
  if (!call.offers("/billing")) return null;
  return markup`<p class="hint unprinted">It names no buyer: <a href="${call.link("/billing")}">billing details</a> are not set.</p>`;
}

/** What the operator states, and nothing that Weir would work out. */
function taxOf({ tax, charges_usd: charges }: StatementView): Html | null {
  if (tax === undefined) return null;
  if (tax === null)
    return markup`<p class="under">No tax is shown: the seller has stated no rate, and Weir computes none by itself.</p>`;
  const rows = [
    { name: "Charges without tax", usd: tax.net_usd },
    { name: `${tax.name} ${tax.percent} %, included`, usd: tax.included_usd },
  ];
  const sum = table({
    caption: "Tax",
    columns: [
      { label: "Part", kind: "text", cell: ({ name }) => name },
      { label: "Amount", kind: "money", cell: ({ usd }) => roundedMoney(usd) },
    ],
    rows,
    totals: ["All charges", roundedMoney(charges)],
    empty: markup``,
  });
  const words = "The seller states this rate. Weir adds no tax to a charge, and does not decide whether any is due.";
  return section("tax", "Tax", markup`${sum}<p class="under">${words}</p>`);
}

function leadOf({ closed, opening_balance_usd: opening }: StatementView): Html {
  const whose = opening === undefined ? "It lists only your keys and your Workbench. " : "";
  return closed
    ? markup`${whose}It is final. <span class="unprinted">Your browser prints it, or saves it as PDF.</span>`
    : markup`${whose}It grows until it closes: at the earliest 25 minutes after the month, when all of its requests have ended.`;
}

function about({ reference, workspace, period, ledger, closed_at: closedAt, sha256 }: StatementView): Html {
  const last = new Date(Date.parse(period.to) - 1).toISOString();
  return facts([
    ["Statement", markup`<code>${reference}</code>`],
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
      { label: "Amount", kind: "money", cell: ({ usd }) => roundedMoney(usd) },
    ],
    rows,
    totals: ["Closing balance", roundedMoney(closing)],
    empty: markup``,
  });
  return section("balance", "Balance", sum);
}

function sumOf(movements: { usd: string }[]): string {
  return formatUsd(movements.reduce((sum, { usd }) => sum + parseUsd(usd), 0n));
}

function movements({ credits = [], refunds = [] }: StatementView): Html | null {
  const all = [...credits, ...refunds.map((refund) => ({ ...refund, usd: `-${refund.usd}` }))];
  if (all.length === 0) return null;
  return section("movements", "Credits and refunds", movementsTable(all.toSorted(byTime)));
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
  return uses.length === 0 ? null : section("own-keys", "Own provider keys", ownKeyTable(uses));
}

function nothing(call: PageCall): Html {
  return emptyState(
    "Nothing was charged.",
    markup`<a class="button quiet" href="${call.link("/requests")}">See the requests</a>`,
  );
}

async function csvOfStatement(call: PageCall): Promise<CsvFile> {
  return statementFile(await readStatement(call));
}

// Tables

/** The largest lines; the file has all. */
function linesTable(lines: readonly Line[], total: string): Html {
  const left = lines.slice(statementLinesShownMax).reduce((sum, { cost_usd: cost }) => sum + parseUsd(cost), 0n);
  const more =
    lines.length <= statementLinesShownMax
      ? null
      : notice({
          tone: "neutral",
          words: markup`The ${statementLinesShownMax} most expensive of ${lines.length} lines. The others are ${exactMoney(formatUsd(left))}; the CSV has all.`,
        });
  const counted = (count: (line: Line) => number): string => whole(lines.reduce((sum, line) => sum + count(line), 0));
  return markup`${more}${table<Line>({
    caption: "Charges",
    columns: [
      { label: "Key", kind: "text", cell: keyCell },
      { label: "Model", kind: "text", cell: modelCell },
      { label: "Requests", kind: "number", cell: ({ requests }) => whole(requests) },
      { label: "Tokens in + out", kind: "number", cell: tokensCell },
      { label: "Amount", kind: "money", cell: ({ cost_usd: cost }) => roundedMoney(cost) },
    ],
    rows: lines.slice(0, statementLinesShownMax),
    totals: ["All charges", null, counted(({ requests }) => requests), null, roundedMoney(total)],
    empty: markup``,
  })}`;
}

function keyCell({ key_id: id, key_name: name, member, model }: Line): Html {
  if (model === null) return markup`Other requests`;
  return markup`${userText(name ?? id ?? "unknown")}${member === null ? null : markup`<span class="under">${userText(member)}</span>`}`;
}

function modelCell({ model, provider, endpoint, tier_above_tokens: tier }: Line): Html | null {
  if (model === null || provider === null || endpoint === null) return null;
  const price = tier === null ? null : markup`, price above ${whole(tier)} tokens`;
  return markup`${userText(model)}<span class="under">${userText(provider)}, ${endpoint}${price}</span>`;
}

function tokensCell({ prompt_tokens: prompt, completion_tokens: completion, cached_tokens: cached }: Line): Html {
  const ofCache = cached === 0 ? null : markup`<span class="under">${whole(cached)} cached</span>`;
  return markup`${whole(prompt)} + ${whole(completion)}${ofCache}`;
}

/** @param movements refunds with a minus */
function movementsTable(movements: readonly Movement[]): Html {
  return table<Movement>({
    caption: "Credits and refunds",
    columns: [
      { label: "Time", kind: "time", cell: ({ at }) => utcTime(at) },
      { label: "Kind", kind: "text", cell: ({ kind }) => kindWords(kind) },
      { label: "Reference", kind: "text", cell: ({ ref }) => ref },
      { label: "Amount", kind: "money", cell: ({ usd }) => roundedMoney(usd) },
    ],
    rows: movements.slice(0, statementLinesShownMax),
    empty: markup``,
  });
}

/** The ledger's kind, such as `dispute_reversed`, in words. */
function kindWords(kind: string | null): string {
  return kind === null ? "others" : kind.replaceAll("_", " ");
}

function ownKeyTable(uses: readonly OwnKeyUse[]): Html {
  return markup`<p class="under">The providers bill these calls. They are not part of the charges.</p>${table<OwnKeyUse>({
    caption: "Calls with own provider keys",
    columns: [
      { label: "Model", kind: "text", cell: ({ model }) => model },
      { label: "Provider", kind: "text", cell: ({ provider }) => provider },
      { label: "Requests", kind: "number", cell: ({ requests }) => whole(requests) },
      { label: "At list prices", kind: "money", cell: ({ list_cost_usd: cost }) => roundedMoney(cost) },
    ],
    rows: uses,
    empty: markup``,
  })}`;
}

function whole(count: number): string {
  return count.toLocaleString("en-US");
}
