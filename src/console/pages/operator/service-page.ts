/**
 * The fleet as `weir status` knows it: its problems first, then how much it serves and what is late, its processes with their versions and
 * alarms, how providers answer, and what the process depends on that answered this page. In one process the fleet is that process. It
 * refreshes itself.
 */
import { type ServedFleet, serviceEndpoints } from "../../../control-api/endpoints/service.ts";
import { markup, type Html } from "../../../http/html.ts";
import { arrangedList, type ListColumn } from "../../look/list-view.ts";
import { badge, emptyState, notice, section, table, tiles, time, type Tile } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { uptime } from "../inference/model-cells.ts";
import { duration } from "../inference/request-columns.ts";
import { providersPath } from "./providers-page.ts";

export const servicePage: Page = {
  of: "operator",
  path: "/service",
  navigation: { section: "Operator", label: "Fleet", icon: "service" },
  roles: [],
  changes: async (call) => JSON.stringify(await stateFor(call)),
  render,
};

interface State {
  fleet: ServedFleet;
  dependencies: Record<string, string>;
}

/** What a page that asked whether anything is new has found, which it then draws: a roll call waits half a second for its answers. */
const found = new WeakMap<PageCall, Promise<State>>();

function stateFor(call: PageCall): Promise<State> {
  const known = found.get(call) ?? readState(call);
  found.set(call, known);
  return known;
}

async function readState(call: PageCall): Promise<State> {
  const [fleet, { dependencies }] = await Promise.all([
    call.control(serviceEndpoints.showFleet),
    call.control(serviceEndpoints.show),
  ]);
  return { fleet, dependencies };
}

async function render(call: PageCall): Promise<PageContent> {
  const { fleet, dependencies } = await stateFor(call);
  const { problems } = fleet;
  const words = `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`;
  const list = arrangedList<Process>(
    {
      caption: "Processes",
      columns: processColumns,
      rows: fleet.processes,
      empty: emptyState("No process answered within half a second.", null),
      isWhole: true,
      order: "by role and start",
    },
    call,
  );
  return {
    title: "Fleet",
    badge: fleet.ok ? badge("good", "no problems") : badge("bad", words),
    lead: "Every process that runs, as weir status shows it.",
    actions: list.view,
    main: markup`${problems.map((problem) => notice({ tone: "bad", words: problem }))}${tiles(fleetTiles(fleet))}
      ${section("processes", "Processes", list.table)}
      ${section("alarms", "Alarms since the start of each process", alarmTable(fleet.processes))}
      ${section("providers", "Providers in the last day", providerTable(fleet.providers))}
      ${section("parts", "What it depends on", partTable(dependencies))}`,
  };
}

type Process = ServedFleet["processes"][number];

function fleetTiles({ processes, settlements_waiting: waiting, schema }: ServedFleet): Tile[] {
  const versions = [...new Set(processes.map(({ version }) => version))];
  const rates = processes.flatMap(({ requests_per_second: rate }) => (typeof rate === "number" ? [rate] : []));
  const lags = processes.flatMap(({ lag_seconds: lag }) => (typeof lag === "number" ? [lag] : []));
  const late = Math.max(0, ...lags);
  const differs = schema !== null && schema.missing.length + schema.unknown.length > 0;
  return [
    {
      label: "Processes",
      value: processes.length,
      note: `${versions.length === 1 ? "version" : "versions"} ${versions.join(", ")}`,
    },
    { label: "Requests a second", value: figure(sum(rates)), note: "in the last minute" },
    {
      label: "Settlements waiting",
      value: waiting === null ? markup`<span class="none">unknown</span>` : waiting.toLocaleString("en-US"),
      note: late === 0 ? "none is late" : `none was booked for ${figure(late)} s`,
    },
    {
      label: "Database schema",
      value: schema === null ? markup`<span class="none">unknown</span>` : differs ? "differs" : "current",
      note: schema?.newest ?? null,
    },
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

function figure(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 1 });
}

const raised = ({ alarms = [] }: Process): number => sum(alarms.map(({ count }) => count));

const processColumns: readonly ListColumn<Process>[] = [
  { name: "role", label: "Role", kind: "text", cell: ({ role }) => role, by: ({ role }) => role },
  { name: "version", label: "Version", kind: "text", cell: ({ version }) => version, by: ({ version }) => version },
  { name: "host", label: "Host", kind: "text", cell: ({ host }) => host, by: ({ host }) => host },
  { name: "pid", label: "Process id", kind: "number", cell: ({ pid }) => String(pid), by: ({ pid }) => pid },
  {
    name: "since",
    label: "Since",
    kind: "time",
    cell: ({ started_at: at }) => time(at),
    by: ({ started_at: at }) => at,
  },
  {
    name: "requests",
    label: "Requests a second",
    kind: "number",
    cell: ({ requests_per_second: rate }) => (typeof rate === "number" ? figure(rate) : null),
    by: ({ requests_per_second: rate }) => rate ?? null,
  },
  {
    name: "lag",
    label: "Lag",
    kind: "number",
    cell: ({ lag_seconds: lag }) => (typeof lag === "number" ? `${figure(lag)} s` : null),
    by: ({ lag_seconds: lag }) => lag ?? null,
  },
  {
    name: "alarms",
    label: "Alarms",
    kind: "badge",
    cell: (process) => (raised(process) === 0 ? badge("good", "none") : badge("warn", String(raised(process)))),
    by: raised,
  },
];

function alarmTable(processes: readonly Process[]): Html {
  const rows = processes.flatMap(({ alarms = [], role, host, pid }) =>
    alarms.map(({ alarm, count }) => ({ alarm, count, process: `${role} on ${host}, process ${pid}` })),
  );
  return table<(typeof rows)[number]>({
    caption: "Alarms",
    columns: [
      { label: "Alarm", kind: "text", cell: ({ alarm }) => markup`<code>${alarm}</code>` },
      { label: "Process", kind: "text", cell: ({ process }) => process },
      { label: "Raised", kind: "number", cell: ({ count }) => count },
    ],
    rows,
    empty: emptyState("No alarm was raised.", null),
  });
}

function providerTable(rows: ServedFleet["providers"]): Html {
  return table<ServedFleet["providers"][number]>({
    caption: "Providers, each by the worst of its models",
    columns: [
      { label: "Provider", kind: "text", cell: ({ provider }) => markup`<a href="${providersPath}/${provider}">${provider}</a>` },
      { label: "State", kind: "badge", cell: ({ uptime_percent: percent }) => healthBadge(percent) },
      { label: "Answered", kind: "number", cell: uptime },
      { label: "First token", kind: "number", cell: ({ latency_ms: ms }) => (ms === null ? null : duration(ms)) },
      { label: "Models with requests", kind: "number", cell: ({ models }) => models },
    ],
    rows,
    empty: emptyState("No requests to providers in the last day.", null),
  });
}

/** From this share of answered requests on, a provider does well, or one of its models. */
const wellPercent = 99;
const badPercent = 90;

export function healthBadge(percent: number | null): Html {
  if (percent === null) return badge("neutral", "not measured");
  if (percent >= wellPercent) return badge("good", "works");
  return percent >= badPercent ? badge("warn", "some failures") : badge("bad", "failing");
}

function partTable(dependencies: Record<string, string>): Html {
  const rows = Object.entries(dependencies).map(([name, state]) => ({ name, state }));
  return table<(typeof rows)[number]>({
    caption: "What the process depends on that answered this page",
    columns: [
      { label: "Part", kind: "text", cell: ({ name }) => name },
      {
        label: "State",
        kind: "badge",
        cell: ({ state }) => (state === "ok" ? badge("good", "ok") : badge("bad", "unavailable")),
      },
      { label: "Problem", kind: "text", cell: ({ state }) => (state === "ok" ? null : state) },
    ],
    rows,
    empty: markup``,
  });
}
