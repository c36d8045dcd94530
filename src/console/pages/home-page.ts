/**
 * The first page of a workspace: the credit left, what was spent, how requests fare, and what needs attention. A workspace without requests
 * gets first steps instead of charts. The numbers are those of Spend and Requests, from the same endpoints.
 */
import type { KeyView } from "../../accounts/keys/schema.ts";
import type { WorkspaceView } from "../../accounts/workspaces/schema.ts";
import type { ConnectionView } from "../../connectors/connections/schema.ts";
import { connectionEndpoints } from "../../control-api/endpoints/connections.ts";
import { findingEndpoints } from "../../control-api/endpoints/findings.ts";
import { keyEndpoints } from "../../control-api/endpoints/keys.ts";
import { providerEndpoints } from "../../control-api/endpoints/providers.ts";
import { logEndpoints } from "../../control-api/endpoints/log.ts";
import { refusalEndpoints } from "../../control-api/endpoints/refusals.ts";
import { usageEndpoints } from "../../control-api/endpoints/usage.ts";
import { workspaceEndpoints } from "../../control-api/endpoints/workspaces.ts";
import type { GenerationView } from "../../gateway/generations/schema.ts";
import type { UsageSums } from "../../gateway/usage/schema.ts";
import { markup, type Html } from "../../http/html.ts";
import { isoTime, monthOf, monthBounds, previousMonth, type Month } from "../../kernel/clock.ts";
import { parseUsd, type NanoUsd } from "../../kernel/money.ts";
import type { FindingPage } from "../../security/findings/lists/search-findings.ts";
import { chartScript, sparkline } from "../look/charts.ts";
import { address } from "../look/forms.ts";
import { leftWords, limitBar } from "../look/limit-meter.ts";
import { badge, tiles, section, type Tile, table, userText, money, type Content } from "../look/parts.ts";
import type { Page, PageCall, PageContent } from "../page.ts";
import { attentionOf, connectionBadge } from "./connections-page.ts";
import { firstSteps, hideSteps, loadSampleData, removeSampleData } from "./workspace/first-steps.ts";
import { spent } from "./inference/keys-page.ts";
import { fewRequestColumns, duration, logChanges, type RequestRow } from "./inference/request-columns.ts";
import { newestFirst } from "./inference/request-rows.ts";
import { blindNotice } from "./security/knowledge.ts";
import { severityBadge } from "./security/words.ts";
import { providersPath } from "./operator/providers-page.ts";
import { monthName, zoneScript } from "./inference/day-zone.ts";
import { readUsageChart, usageAsked, usageChart } from "./inference/usage-chart.ts";

export const homePage: Page = {
  of: "workspace",
  path: "/",
  navigation: { section: null, label: "Home", icon: "home" },
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [zoneScript, chartScript],
  changes: logChanges,
  render,
  actions: { "hide-steps": hideSteps, "load-sample": loadSampleData, "remove-sample": removeSampleData },
};

/** The newest requests that show how long the first token takes. */
const sampleMax = 200;
const lastRequests = 5;

async function render(call: PageCall): Promise<PageContent> {
  const month = monthOf(call.nowMs);
  const isOwn = call.workspace.role === "member";
  const asked = usageAsked(call, { usual: "month", groups: isOwn ? ["model", "key"] : ["model", "key", "member"] });
  const [workspace, view, used, log, refused, { data: near }, attention, first] = await Promise.all([
    call.control(workspaceEndpoints.show, { id: call.workspace.id }),
    readUsageChart(call, asked),
    readMonth(call, month),
    call.control(logEndpoints.list, { limit: String(sampleMax) }),
    readRefused(call, month),
    call.control(keyEndpoints.list, { near_limit: "true", limit: "20" }),
    readAttention(call),
    firstSteps(call),
  ]);
  const rows = newestFirst([...log.data, ...refused.newest]).slice(0, lastRequests);
  const isNew = log.data.length === 0;
  const all = [
    creditTile(workspace, call),
    spendTile({ workspace, used, isOwn }, call),
    requestsTile({ month, used, refused: refused.calls, isOwn }, call),
    firstTokenTile({ newest: log.data, sampleMax }, call),
  ];
  const limits = { day: workspace.daily_spend_limit_usd, month: workspace.spend_limit_usd };
  const shown = { asked, view, ...(isOwn ? { whose: "Your " } : { limits }) };
  const attentionNow = markup`${await blindNotice(call)}${nearLimits(near, call)}${attentionSections(attention, call)}`;
  return {
    title: "Home",
    lead: workspace.enabled
      ? null
      : "The platform is switched off for this workspace: its keys are refused until the operator switches it on.",
    main: isNew
      ? markup`${tiles(all)}${await firstRequest(call, first.steps)}${first.sample}${rows.length === 0 ? null : newest(rows, call)}${attentionNow}`
      : markup`${tiles(all)}${first.steps}${first.sample}${usageChart(call, shown)}${attentionNow}${newest(rows, call)}`,
  };
}

interface MonthUse {
  total: UsageSums;
  /** Requests of each day, up to today. */
  days: number[];
  /** What had been spent of the month before by this time of it. */
  spentBefore: NanoUsd;
}

const quarterMs = 900_000;

/** The sums of the month, whichever range the chart has. Usage is kept by quarters of an hour. */
async function readMonth(call: PageCall, month: Month): Promise<MonthUse> {
  const { startMs, endMs } = monthBounds(month);
  const before = monthBounds(previousMonth(month));
  const passedMs = Math.ceil((call.nowMs + 1 - startMs) / quarterMs) * quarterMs;
  const sameEndMs = Math.min(before.startMs + passedMs, before.endMs);
  const [{ data, total }, same] = await Promise.all([
    call.control(usageEndpoints.sum, { from: isoTime(startMs), to: isoTime(endMs), by: "day" }),
    call.control(usageEndpoints.sum, { from: isoTime(before.startMs), to: isoTime(sameEndMs), limit: "1" }),
  ]);
  const requests = new Map(data.map((row) => [row.period, row.requests]));
  const days = Array.from({ length: Math.ceil((call.nowMs + 1 - startMs) / dayMs) }, (_, day) => isoTime(startMs + day * dayMs));
  return {
    total,
    days: days.map((at) => requests.get(at.slice(0, 10)) ?? 0),
    spentBefore: parseUsd(same.total.cost_usd),
  };
}

function nearLimits(near: readonly KeyView[], call: PageCall): Html | null {
  if (near.length === 0) return null;
  const rows = table<KeyView>({
    caption: "Keys that have spent 80 % of their monthly limit or more",
    columns: [
      { label: "Key", kind: "text", cell: ({ id, name }) => markup`<a href="${call.link(`/keys/${id}`)}">${userText(name)}</a>` },
      { label: "Owner", kind: "text", cell: ({ owner }) => owner },
      { label: "Spent this month", kind: "money", cell: spent },
    ],
    rows: near,
    empty: markup``,
  });
  return section("near", "Keys near their limit", rows);
}

function newest(rows: readonly RequestRow[], call: PageCall): Html {
  const last = table<RequestRow>({
    caption: "Last requests, newest first",
    columns: fewRequestColumns(call, "all keys"),
    rows,
    empty: markup``,
  });
  return section("newest", "Last requests", markup`${last}<p><a href="${call.link("/requests")}">All requests</a></p>`);
}

// The first steps in a workspace without requests.

/** @param steps of the checklist; null: it is done or hidden */
async function firstRequest(call: PageCall, steps: Html | null): Promise<Html> {
  if (call.workspace.role === "operator") return markup`${await operatorSteps(call)}${steps}`;
  if (steps !== null) return steps;
  if (!call.offers("/keys/new") || call.viewer.email === null)
    return markup`<div class="state"><p>No requests yet. Their cost appears here once a member sends one.</p></div>`;
  const { data: keys } = await call.control(keyEndpoints.list, { limit: "20" });
  const hasKey = keys.some(({ kind }) => kind === "inference");
  const bench = call.offers("/workbench")
    ? markup`<li><a href="${call.link("/workbench")}">Try a model in the Workbench</a>. It needs no key.</li>`
    : null;
  return section(
    "first",
    "Your first request",
    markup`<ol>
      ${bench}
      <li><a href="${call.link("/keys/new")}">${hasKey ? "Create another key" : "Create a key"}</a> for your program. It is shown once, with a first request to paste.${hasKey ? markup` Or use <a href="${call.link("/keys")}">one that you have</a>.` : null}</li>
      <li>See <a href="${call.link("/requests")}">what it cost</a>, to the nano-dollar. This page then shows the month.</li>
    </ol>`,
  );
}

/** The operator makes models callable; members then send requests. */
async function operatorSteps(call: PageCall): Promise<Html> {
  // A catalog that cannot be read must not keep the operator from the rest of the page.
  const providers = await call.control(providerEndpoints.list).catch(() => null);
  return section(
    "first",
    "The first request",
    markup`<ol>
      <li>${providers === null ? markup`See under <a href="${providersPath}">Providers</a> whose models can be called.` : servingWords(providers.data)}</li>
      <li><a href="${call.link("/members")}">Invite a member</a>. Members create keys, and try models in the Workbench.</li>
      <li>See under <a href="${call.link("/requests")}">Requests</a> what they cost, to the nano-dollar.</li>
    </ol>`,
  );
}

function servingWords(providers: readonly { name: string; callable: number }[]): Html {
  const serving = providers.filter(({ callable }) => callable > 0);
  if (serving.length === 0)
    return markup`<a href="${providersPath}">Add a provider’s key</a>. No model of a provider can be called before.`;
  const names = serving.map(({ name }) => name).join(", ");
  return markup`${userText(names)} ${serving.length === 1 ? "serves" : "serve"} models. <a href="${providersPath}">Add another provider</a>.`;
}

// The numbers at the top of Home.

type Call = Pick<PageCall, "link" | "nowMs">;

/** What can still be reserved; while the counters cannot answer, the ledger's balance. */
function creditTile(workspace: WorkspaceView, { nowMs }: Call): Tile {
  const left = workspace.available_usd ?? workspace.balance_usd;
  return { label: "Credit left", value: money(left), note: runsFor({ left: parseUsd(left), workspace, nowMs }) };
}

const dayMs = 86_400_000;

function runsFor({ left, workspace, nowMs }: { left: NanoUsd; workspace: WorkspaceView; nowMs: number }): string {
  const spent = parseUsd(workspace.month_spent_usd);
  if (left <= 0n) return "requests are refused until credit is added";
  if (spent <= 0n) return "nothing spent this month";
  const elapsed = BigInt(Math.max(1, nowMs - monthBounds(workspace.month).startMs));
  const days = (left * elapsed) / spent / BigInt(dayMs);
  if (days > 999n) return "lasts more than 999 days at this month’s pace";
  if (days === 0n) return "lasts less than a day at this month’s pace";
  return `lasts ${days} ${days === 1n ? "day" : "days"} at this month’s pace`;
}

function spendTile({ workspace, used, isOwn }: { workspace: WorkspaceView; used: MonthUse; isOwn: boolean }, call: Call): Tile {
  const { spend_limit_usd: limit, month_spent_usd: spent, reserved_usd: reserved, month_left_usd: left, month } = workspace;
  const drawing = limitBar({ limit, spent, reserved });
  const ofAll = isOwn ? markup`the workspace spent ${money(spent)}` : null;
  const ofLimit = limit === null ? null : markup`of the workspace’s limit of ${money(limit)}, ${leftWords({ reserved, left })}`;
  const note =
    ofAll !== null && ofLimit !== null ? markup`${ofAll} ${ofLimit}` : (ofAll ?? ofLimit ?? "the workspace has no limit");
  return {
    label: `${isOwn ? "Your spend" : "Spend"} in ${monthName(month)}`,
    value: money(used.total.cost_usd),
    change: changeWords({ spent: parseUsd(used.total.cost_usd), before: used.spentBefore, month: previousMonth(month) }),
    drawing,
    note,
    path: call.link("/spend"),
  };
}

/** null: nothing had been spent of the month before by this time of it. */
function changeWords({ spent, before, month }: { spent: NanoUsd; before: NanoUsd; month: Month }): string | null {
  if (before <= 0n) return null;
  const then = `${monthName(month).replace(/ \d+$/, "")} by this time`;
  if (spent >= before * 10n) return `${(spent / before).toLocaleString("en-US")} times as much as in ${then}`;
  const change = Number(((spent - before) * 1_000n) / before) / 10;
  const share = Math.round(Math.abs(change));
  if (share === 0) return `about as much as in ${then}`;
  return `${share} % ${change > 0 ? "more" : "less"} than in ${then}`;
}

/** From this share of failed requests on they are marked, once there are enough to speak of a share. */
const failedPercentMarked = 5;
const requestsMarkedMin = 20;

interface MonthRequests {
  month: Month;
  used: MonthUse;
  refused: number;
  isOwn: boolean;
}

function requestsTile({ month, used: { total, days }, refused, isOwn }: MonthRequests, call: Call): Tile {
  const { requests, errors } = total;
  const isMarked = requests >= requestsMarkedMin && errors * 100 >= requests * failedPercentMarked;
  const label = `${isOwn ? "Your requests" : "Requests"} in ${monthName(month)}`;
  const part = (count: number, word: string, status: string, more: Html | string = ""): Html =>
    markup`<a href="${address(call.link("/requests"), { status })}">${count.toLocaleString("en-US")} ${word}</a>${more}`;
  const share = requests === 0 ? "" : percent(errors, requests);
  const mark = isMarked ? markup` ${badge("bad", share)}` : share && ` (${share})`;
  const failed = markup`<span class="together">${part(errors, "failed", "error", mark)}</span>`;
  const note =
    requests + refused === 0
      ? "no requests yet"
      : markup`${part(requests - errors, "answered", "ok")} · ${failed} · ${part(refused, "refused", "refused")}`;
  const drawing = days.length < daysDrawnMin || requests === 0 ? null : sparkline(days, dayWords(days));
  return { label, value: (requests + refused).toLocaleString("en-US"), drawing, note, path: call.link("/requests") };
}

/** Fewer have no course. */
const daysDrawnMin = 3;

function dayWords(days: readonly number[]): string {
  const [first = 0, highest, last = 0] = [days[0], Math.max(...days), days.at(-1)].map((count) => count?.toLocaleString("en-US"));
  return `Answered and failed requests by day: ${first} on the first, ${highest} at most, ${last} today`;
}

/** How many calls of the month were refused, and the newest of them. */
async function readRefused(call: PageCall, month: Month): Promise<{ calls: number; newest: RequestRow[] }> {
  const [{ calls }, { data }] = await Promise.all([
    call.control(refusalEndpoints.count, { from: isoTime(monthBounds(month).startMs) }),
    call.control(refusalEndpoints.list, { limit: String(lastRequests) }),
  ]);
  return { calls, newest: data };
}

function percent(part: number, whole: number): string {
  return `${((part * 100) / whole).toLocaleString("en-US", { maximumFractionDigits: 1 })} %`;
}

/** From a sample, since no index covers the times. */
function firstTokenTile({ newest, sampleMax }: { newest: readonly GenerationView[]; sampleMax: number }, { nowMs }: Call): Tile {
  const ofDay = newest.filter(({ at }) => Date.parse(at) > nowMs - dayMs);
  const times = ofDay.flatMap(({ first_token_ms: ms }) => (ms === null ? [] : [ms])).toSorted((one, other) => one - other);
  const label = "First token, p50 and p95";
  if (times.length === 0)
    return { label, value: markup`<span class="none">–</span>`, note: "no answer with text in the last 24 hours" };
  const value: Content = `${duration(quantile(times, 0.5))} · ${duration(quantile(times, 0.95))}`;
  const isSample = newest.length === sampleMax && ofDay.length === newest.length;
  return {
    label,
    value,
    note: isSample
      ? `of the newest ${times.length} answers`
      : `of ${times.length} ${times.length === 1 ? "answer" : "answers"} in the last 24 hours`,
  };
}

/** The smallest value that this fraction of all values does not exceed. @param sorted ascending, at least one */
function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}

// What needs attention on Home apart from money: findings that have a fix, and connections that do not work.

interface Attention {
  findings: FindingPage["data"];
  connections: ConnectionView[];
}

const findingsShown = 5;
const connectionsShown = 5;
/** The largest `attentionOf` of a connection whose last test failed. */
const failed = 1;
/** Open findings that have a fix, the most severe first. */
const toFix = { status: "live", fixable: "true" } as const;

async function readAttention(call: PageCall): Promise<Attention> {
  const [{ data: findings }, { data: connections }] = await Promise.all([
    call.control(findingEndpoints.search, { ...toFix, limit: String(findingsShown) }),
    call.control(connectionEndpoints.list),
  ]);
  const broken = connections.filter((connection) => attentionOf(connection) <= failed);
  return {
    findings,
    connections: broken.toSorted((one, other) => attentionOf(one) - attentionOf(other)).slice(0, connectionsShown),
  };
}

function attentionSections({ findings, connections }: Attention, call: PageCall): Html {
  return markup`${findings.length === 0 ? null : findingsSection(findings, call)}${connections.length === 0 ? null : connectionsSection(connections, call)}`;
}

function findingsSection(rows: Attention["findings"], call: PageCall): Html {
  const worst = table<Attention["findings"][number]>({
    caption: "The most severe open findings with a fix",
    columns: [
      {
        label: "Vulnerability",
        kind: "text",
        cell: ({ id, cve_id: cve }) => markup`<a href="${call.link(`/findings/${id}`)}">${userText(cve)}</a>`,
      },
      { label: "Severity", kind: "badge", cell: ({ severity, cvss_score: score }) => severityBadge(severity, score) },
      { label: "Component", kind: "text", cell: ({ component, component_version: version }) => `${component} ${version}`.trim() },
      { label: "Fixed in", kind: "text", cell: ({ fix_version: fix }) => fix },
    ],
    rows,
    empty: markup``,
  });
  const all = markup`<p><a href="${address(call.link("/findings"), toFix)}">All open findings with a fix</a></p>`;
  return section("fixes", "Findings with a fix", markup`${worst}${all}`);
}

function connectionsSection(rows: readonly ConnectionView[], call: PageCall): Html {
  const broken = table<ConnectionView>({
    caption: "Connections whose last test failed",
    columns: [
      {
        label: "Vendor",
        kind: "text",
        cell: ({ id, connector }) => markup`<a href="${call.link(`/connections/${id}`)}">${userText(connector)}</a>`,
      },
      { label: "State", kind: "badge", cell: connectionBadge },
      { label: "What the test showed", kind: "text", cell: ({ last_test: test }) => test?.message ?? null },
    ],
    rows,
    empty: markup``,
  });
  return section("connections", "Connections that need attention", broken);
}
