/**
 * What a workspace used in a range of time: a chart by hour, day or month, and a table of the sums by key, member, model, provider or
 * endpoint, next to the month's limit. Both are one answer of the control API. The file has each day's sums. Each row leads to its requests.
 */
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import { usageEndpoints } from "../../../control-api/endpoints/usage.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import type { ChartView, UsageSums, UsageView } from "../../../gateway/usage/schema.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { parseUsd } from "../../../kernel/money.ts";
import { chartScript } from "../../look/charts.ts";
import { address } from "../../look/forms.ts";
import { leftWords, limitBar } from "../../look/limit-meter.ts";
import { tiles, type Tile, table, type Column, money, userText } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { zoneScript, monthName } from "./day-zone.ts";
import { distinctNames, type Group, groupNames, readUsageChart, usageAsked, usageChart, type UsageAsked } from "./usage-chart.ts";

export const spendPage: Page = {
  of: "workspace",
  path: "/spend",
  navigation: { section: "Inference", label: "Spend", icon: "spend" },
  reference: "control-inference",
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [zoneScript, chartScript],
  render,
  csv,
};

const offer = { usual: "month", groups: ["key", "member", "model", "provider", "endpoint"] } as const;

async function render(call: PageCall): Promise<PageContent> {
  const asked = usageAsked(call, offer);
  const [view, workspace] = await Promise.all([
    readUsageChart(call, asked),
    call.control(workspaceEndpoints.show, { id: call.workspace.id }),
  ]);
  const isMember = call.workspace.role === "member";
  const file = address(call.path, { ...Object.fromEntries(call.query), as: "csv" });
  const limits = { day: workspace.daily_spend_limit_usd, month: workspace.spend_limit_usd };
  const shown = { asked, view, ...(isMember ? { whose: "Your " } : { limits }) };
  const group = groupOf(asked);
  return {
    title: "Spend",
    lead: isMember
      ? "What your keys and your requests in the Workbench were charged."
      : "What all requests of this workspace were charged.",
    actions:
      view.total.requests === 0
        ? null
        : markup`<a class="button quiet" href="${file}">CSV by ${fileStep(asked)}${group === null ? "" : ` and ${group}`}</a>`,
    main: markup`${tiles(rangeTiles({ view, workspace, asked, isMember }))}
      ${usageChart(call, shown)}
      ${group === null || asked.isRunning ? null : sumsTable(call, { view, asked, group })}`,
  };
}

/** By what the table and the file are divided; null: by nothing. */
function groupOf({ by }: UsageAsked): Group | null {
  return by === "" || by === "code" ? null : by;
}

interface Shown {
  view: ChartView;
  workspace: WorkspaceView;
  asked: UsageAsked;
  isMember: boolean;
}

function rangeTiles({ view: { total }, workspace, asked: { range }, isMember }: Shown): Tile[] {
  const failed = total.errors === 0 ? "none failed" : `${count(total.errors)} failed`;
  const ofOwnKeys: Tile[] =
    parseUsd(total.list_cost_usd) === 0n
      ? []
      : [{ label: "With own provider keys", value: money(total.list_cost_usd), note: "at list prices; the providers bill it" }];
  return [
    {
      label: `${isMember ? "Your spend" : "Spend"} ${range.words}`,
      value: money(total.cost_usd),
      note: `${fileStep({ range })}s of ${range.zone}`,
    },
    { label: "Requests", value: count(total.requests), note: failed },
    ...ofOwnKeys,
    limitTile(workspace),
  ];
}

/** Limits count the calendar month in UTC, whichever range is shown. */
function limitTile(workspace: WorkspaceView): Tile {
  const { spend_limit_usd: limit, month_spent_usd: spent, reserved_usd: reserved, month_left_usd: left, month } = workspace;
  const note =
    limit === null
      ? "the workspace has no limit"
      : markup`of the workspace’s limit of ${money(limit)}: ${leftWords({ reserved, left })}`;
  const drawing = limitBar({ limit, spent, reserved });
  return { label: `The workspace in ${monthName(month)} (UTC)`, value: money(spent), drawing, note };
}

// The file

const rowsOfFile = 5_000;

async function csv(call: PageCall): Promise<CsvFile> {
  const asked = usageAsked(call, offer);
  const { range } = asked;
  const group = groupOf(asked);
  const step = fileStep(asked);
  const { data, rest } = await call.control(usageEndpoints.sum, {
    from: range.from,
    to: range.to,
    tz: range.zone,
    by: group === null ? step : `${step},${group}`,
    limit: String(rowsOfFile),
  });
  const ids = (id: string): string[] => (group === "key" ? [id] : []);
  const names = (label: string): string[] => (group === null ? [] : [label]);
  const named = data.map((row) => {
    const { id, label } = namesOf(row, group);
    return [row.period ?? "", ...ids(id), ...names(label), ...sumsOf(row)];
  });
  const others = rest === null ? [] : [["", ...ids(""), ...names(`${rest.rows} smaller parts of ${step}s`), ...sumsOf(rest)]];
  return {
    name: `spend-${call.workspace.name}-${range.month ?? `${range.days.first}-${range.days.last}`}`,
    columns: [`${step} (${range.zone})`, ...ids("key_id"), ...names(group ?? ""), ...sumColumns],
    rows: [...named, ...others],
  };
}

function fileStep({ range }: Pick<UsageAsked, "range">): "hour" | "day" {
  return range.kind === "24h" ? "hour" : "day";
}

function namesOf(row: UsageView["data"][number], group: Group | null): { id: string; label: string } {
  if (group === null) return { id: "", label: "" };
  if (group === "key") return { id: row.key_id ?? "", label: row.key_name || (row.key_id ?? "Workbench") };
  const name = row[group] ?? "";
  return { id: name, label: name || "unknown" };
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
] as const;

function sumsOf(sums: UsageSums): (string | number)[] {
  return sumColumns.map((column) => sums[column]);
}

// The sums of the range by key, member, model, provider or endpoint.

interface SumsTable {
  view: ChartView;
  asked: UsageAsked;
  group: Group;
}

interface SumsRow {
  /** Empty: none, such as the Workbench when grouped by key, or the rest. */
  id: string;
  label: string;
  sums: UsageSums;
}

function sumsTable(call: PageCall, { view, asked, group }: SumsTable): Html {
  const { data, rest, total } = view;
  const names = distinctNames(data);
  const rows = data.flatMap(({ id, sums }, index): SumsRow[] =>
    sums === undefined ? [] : [{ id, label: names[index] ?? "", sums }],
  );
  const smallest: SumsRow[] = rest === null ? [] : [{ id: "", label: `The ${count(rest.rows)} smallest`, sums: rest }];
  const name = groupNames[group];
  const number = (label: string, of: (sums: UsageSums) => number): Column<SumsRow> => ({
    label,
    kind: "number",
    cell: ({ sums }) => count(of(sums)),
  });
  const columns: Column<SumsRow>[] = [
    { label: name, kind: "text", cell: (row) => requestsLink(call, { row, asked, group }) },
    number("Requests", ({ requests }) => requests),
    number("Failed", ({ errors }) => errors),
    number("Tokens in", ({ prompt_tokens: tokens }) => tokens),
    number("Tokens out", ({ completion_tokens: tokens }) => tokens),
    { label: "Cost", kind: "money", cell: ({ sums }) => money(sums.cost_usd) },
  ];
  return table({
    caption: `Sums ${asked.range.words} by ${name.toLowerCase()}`,
    columns,
    rows: [...rows, ...smallest],
    empty: markup``,
    totals: [
      "Total",
      ...[total.requests, total.errors, total.prompt_tokens, total.completion_tokens].map(count),
      money(total.cost_usd),
    ],
  });
}

/** The log has no filter for providers. */
function requestsLink(
  call: PageCall,
  { row: { id, label }, asked, group }: { row: SumsRow; asked: UsageAsked; group: Group },
): Html {
  if (group === "provider" || id === "") return userText(label);
  const { days, zone } = asked.range;
  const query = { [group]: id, from: days.first, to: days.last, ...(zone !== call.viewer.zone && { tz: zone }) };
  return markup`<a href="${address(call.link("/requests"), query)}">${userText(label)}</a>`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
