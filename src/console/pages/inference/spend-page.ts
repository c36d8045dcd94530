/**
 * What a workspace spent in a month: by day as bars, and by key, member, model or provider as a table, next to the month's limit. The
 * file has each day's sums. Each row leads to its requests.
 */
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { parseUsd } from "../../../kernel/money.ts";
import { meter } from "../../look/charts.ts";
import { address, filterForm, type Filter } from "../../look/forms.ts";
import { emptyState, tiles, type Tile, table, type Column, money, userText } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { dayAt, dayZone, keptZone, zoneOffer, zoneScript, monthName } from "./day-zone.ts";
import {
  dimensions,
  lastMonths,
  namesOf,
  readMonthSpend,
  type Dimension,
  type MonthSpend,
  type SpendRequest,
  nextMonth,
  type SpendGroup,
  spendChart,
} from "./month-spend.ts";

export const spendPage: Page = {
  of: "workspace",
  path: "/spend",
  navigation: { section: "Inference", label: "Spend", icon: "spend" },
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [zoneScript],
  render,
  csv,
};

const monthsChosen = 13;

/** What the address asks for; unknown values are ignored. */
function asked(call: PageCall, zone: string): SpendRequest {
  const month = call.query.get("month") ?? "";
  const by = dimensions.find((dimension) => dimension === call.query.get("by")) ?? "key";
  return {
    month: /^(?:19[7-9]\d|2\d{3})-(?:0[1-9]|1[0-2])$/.test(month) && month > "1970-01" ? month : thisMonth(call, zone),
    zone,
    by,
  };
}

function thisMonth({ nowMs }: PageCall, zone: string): string {
  return dayAt(nowMs, zone).slice(0, 7);
}

const dimensionNames: Record<Dimension, string> = { key: "Key", member: "Member", model: "Model", provider: "Provider" };

async function render(call: PageCall): Promise<PageContent> {
  const { zone, problem } = dayZone(call);
  const request = asked(call, zone);
  const { month, by } = request;
  const [spend, workspace] = await Promise.all([
    readMonthSpend(call, request),
    call.control(workspaceEndpoints.show, { id: call.workspace.id }),
  ]);
  const isMember = call.workspace.role === "member";
  const none = emptyState(
    `Nothing was spent in ${monthName(month)}.`,
    markup`<a class="button quiet" href="${call.link("/requests")}">See the requests</a>`,
  );
  const file = address(call.path, { ...Object.fromEntries(call.query), as: "csv" });
  const name = dimensionNames[by];
  return {
    title: "Spend",
    lead: isMember
      ? "What your keys and your requests in the Workbench were charged."
      : "What all requests of this workspace were charged.",
    actions:
      spend.rows.length === 0 ? null : markup`<a class="button quiet" href="${file}">CSV by day and ${name.toLowerCase()}</a>`,
    main: markup`${problem}${filterForm({ path: call.path, filters: filters(call, request), kept: keptZone(call) })}${zoneOffer(call, zone)}
      ${tiles(monthTiles({ spend, workspace, request, isMember }))}
      ${spendChart({ id: "spend", title: `Spend in ${monthName(month)} by day and ${name.toLowerCase()}`, spend, zone, empty: none })}
      ${spendTable(call, { spend, request, name })}`,
  };
}

function filters(call: PageCall, { month, zone, by }: SpendRequest): Filter[] {
  const current = thisMonth(call, zone);
  const months = lastMonths(current, monthsChosen);
  const choices = (months.includes(month) ? months : [...months, month]).map((value) => ({
    value: value === current ? "" : value,
    label: monthName(value),
  }));
  const dimensionChoices = dimensions.map((value) => ({ value: value === "key" ? "" : value, label: dimensionNames[value] }));
  return [
    { name: "month", label: "Month", kind: "choice", choices, value: month === current ? "" : month },
    { name: "by", label: "Group by", kind: "choice", choices: dimensionChoices, value: by === "key" ? "" : by },
  ];
}

interface Shown {
  spend: MonthSpend;
  workspace: WorkspaceView;
  request: SpendRequest;
  isMember: boolean;
}

function monthTiles({ spend: { total }, workspace, request: { month, zone }, isMember }: Shown): Tile[] {
  const failed = total.errors === 0 ? "none failed" : `${total.errors.toLocaleString("en-US")} failed`;
  const ofOwnKeys: Tile[] =
    parseUsd(total.list_cost_usd) === 0n
      ? []
      : [{ label: "With own provider keys", value: money(total.list_cost_usd), note: "at list prices; the providers bill it" }];
  return [
    {
      label: `${isMember ? "Your spend" : "Spend"} in ${monthName(month)}`,
      value: money(total.cost_usd),
      note: zone === "UTC" ? "days of UTC" : `days of ${zone}`,
    },
    { label: "Requests", value: total.requests.toLocaleString("en-US"), note: failed },
    ...ofOwnKeys,
    limitTile(workspace),
  ];
}

/** Limits count the calendar month in UTC, whichever month is shown. */
function limitTile({ spend_limit_usd: limit, month_spent_usd: used, month }: WorkspaceView): Tile {
  const drawing = limit === null ? null : meter({ used: parseUsd(used), of: parseUsd(limit), words: "" });
  const note = limit === null ? "the workspace has no limit" : markup`of the workspace’s limit of ${money(limit)}`;
  return { label: `The workspace in ${monthName(month)} (UTC)`, value: money(used), drawing, note };
}

async function csv(call: PageCall): Promise<CsvFile> {
  const request = asked(call, dayZone(call).zone);
  const { rows, rest } = await readMonthSpend(call, request, { isFile: true });
  const sums = ({ requests, errors, ...row }: MonthSpend["total"]) => [
    requests,
    errors,
    row.prompt_tokens,
    row.cached_tokens,
    row.cache_write_tokens,
    row.completion_tokens,
    row.cost_usd,
    row.list_cost_usd,
  ];
  const named = rows.map((row) => {
    const { id, label } = namesOf(row, request.by);
    return [row.period ?? "", ...(request.by === "key" ? [id] : []), label, ...sums(row)];
  });
  const others =
    rest === null ? [] : [["", ...(request.by === "key" ? [""] : []), `${rest.rows} smaller parts of days`, ...sums(rest)]];
  return {
    name: `spend-${call.workspace.name}-${request.month}`,
    columns: [`day (${request.zone})`, ...(request.by === "key" ? ["key_id"] : []), request.by, ...sumColumns],
    rows: [...named, ...others],
  };
}

const sumColumns = [
  "requests",
  "errors",
  "prompt_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "completion_tokens",
  "cost_usd",
  "list_cost_usd",
];

// The sums of a month by key, member, model or provider.

interface SpendTable {
  spend: MonthSpend;
  request: SpendRequest;
  /** The dimension's name, such as "Key". */
  name: string;
}

function spendTable(call: PageCall, { spend, request, name }: SpendTable): Html {
  const { total } = spend;
  const columns: Column<SpendGroup>[] = [
    { label: name, kind: "text", cell: (group) => requestsLink(call, { group, request }) },
    { label: "Requests", kind: "number", cell: ({ requests }) => count(requests) },
    { label: "Failed", kind: "number", cell: ({ errors }) => count(errors) },
    { label: "Tokens in", kind: "number", cell: ({ promptTokens }) => count(promptTokens) },
    { label: "Tokens out", kind: "number", cell: ({ completionTokens }) => count(completionTokens) },
    { label: "Cost", kind: "money", cell: ({ cost }) => money(cost) },
  ];
  return table({
    caption: `Sums of the month by ${name.toLowerCase()}`,
    columns,
    rows: [...spend.groups, ...restOf(spend)],
    empty: markup``,
    totals: [
      "Total",
      ...[total.requests, total.errors, total.prompt_tokens, total.completion_tokens].map(count),
      money(total.cost_usd),
    ],
  });
}

/** The smallest parts, so that the rows add up to the sum. */
function restOf({ rest, days }: MonthSpend): SpendGroup[] {
  if (rest === null) return [];
  const { rows, requests, errors, prompt_tokens: promptTokens, completion_tokens: completionTokens } = rest;
  const label = `The ${count(rows)} smallest parts of days`;
  return [
    {
      id: "",
      label,
      requests,
      errors,
      promptTokens,
      completionTokens,
      cost: parseUsd(rest.cost_usd),
      listCost: 0n,
      days: days.map(() => 0n),
    },
  ];
}

/** The log's filters by dimension; it has none for providers. */
const filterNames: Partial<Record<Dimension, string>> = { key: "key", member: "member", model: "model" };

function requestsLink(
  call: PageCall,
  { group: { id, label }, request: { month, zone, by } }: { group: SpendGroup; request: SpendRequest },
): Html {
  const filter = filterNames[by];
  if (filter === undefined || id === "") return userText(label);
  const last = new Date(Date.parse(`${nextMonth(month)}-01`) - 1).toISOString().slice(0, 10);
  const query = { [filter]: id, from: `${month}-01`, to: last, ...(zone !== call.viewer.zone && { tz: zone }) };
  return markup`<a href="${address(call.link("/requests"), query)}">${userText(label)}</a>`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
