/**
 * Reports of usage on a schedule: what a workspace spent in a day, a week or a month, by mail and by webhook, as an alert of its rule.
 *
 * A round begins every half minute, off the request path, in every process that meters. A report is due an hour after its period, since
 * charges arrive late, and is recorded once: the period is part of what makes an alert unique. A rule reports only periods that end after it
 * was set. One workspace that cannot be read does not hold up others. Days and weeks are in UTC, and a week begins on Monday.
 */
import { recordAlerts, type NewAlert } from "../../accounts/alerts/alerts.ts";
import type { ReportKind } from "../../accounts/alerts/kinds.ts";
import { selectDueReports, type DueReport } from "../../accounts/alerts/store.ts";
import { usageText } from "../../accounts/alerts/words.ts";
import { alertLateMs, alertWatchMs } from "../../accounts/limits.ts";
import type { Database } from "../../backing/backing.ts";
import type { Bus } from "../../backing/bus.ts";
import { type Clock, isoTime, monthBounds, monthOf, previousMonth } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { parseUsd } from "../../kernel/money.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { readUsage } from "./usage.ts";

/** Rules of one kind whose reports one round writes; the next round has the others. */
const usageReportsAtOnceMax = 100;
/** Models and keys that a report names. */
const usageReportRowsMax = 10;

interface ReportParts {
  sql: Database;
  bus: Pick<Bus, "broadcast">;
  clock: Clock;
  log: Logger;
}

/** Every half minute until disposed. */
export function startUsageReports(parts: ReportParts): AsyncDisposable {
  const { clock, log } = parts;
  return repeatUntilStopped({
    clock,
    round: (signal) => reportUsage(parts, signal),
    everyMs: alertWatchMs,
    pauseFirst: true,
    onError: (error) => log.warn({ event: "usage.report.failed", reason: String(error) }, "Usage could not be reported"),
  });
}

/** One round over all rules whose report is due. @returns how many reports are new */
export async function reportUsage(parts: ReportParts, signal?: AbortSignal): Promise<number> {
  const { sql, bus, clock, log } = parts;
  let added = 0;
  for (const kind of reportKinds) {
    const span = { kind, ...spans[kind](clock.now() - alertLateMs) };
    const asked = { ...span, end: new Date(span.endMs), limit: usageReportsAtOnceMax };
    for (const due of await selectDueReports(asked, sql)) {
      if (signal?.aborted) return added;
      try {
        added += await report(due, span, parts);
      } catch (error) {
        log.warn(
          { event: "usage.report.failed", workspace: due.workspace, reason: String(error) },
          "Usage could not be reported",
        );
      }
    }
  }
  if (added > 0) for (const topic of ["mail-waits", "alert-waits"] as const) bus.broadcast(topic);
  return added;
}

const reportKinds = ["usage_day", "usage_week", "usage_month"] as const satisfies readonly ReportKind[];

interface Span {
  /** Distinguishes it from others of its kind. */
  period: string;
  /** In words. */
  name: string;
  startMs: number;
  endMs: number;
}

const dayMs = 86_400_000;
/** 1 January 1970 was a Thursday. */
const daysFromMonday = 3;

/** The last period of each kind that ended before a time. */
const spans: Record<ReportKind, (ms: number) => Span> = {
  usage_day(ms) {
    const endMs = Math.floor(ms / dayMs) * dayMs;
    const period = dateOf(endMs - dayMs);
    return { period, name: period, startMs: endMs - dayMs, endMs };
  },
  usage_week(ms) {
    const day = Math.floor(ms / dayMs);
    const endMs = (day - ((day + daysFromMonday) % 7)) * dayMs;
    const startMs = endMs - 7 * dayMs;
    return { period: dateOf(startMs), name: `the week from ${dateOf(startMs)}`, startMs, endMs };
  },
  usage_month(ms) {
    const month = previousMonth(monthOf(ms));
    return { period: month, name: month, ...monthBounds(month) };
  },
};

function dateOf(ms: number): string {
  return isoTime(ms).slice(0, 10);
}

/** @returns 1, or 0 if another process was first */
async function report(due: DueReport, span: Span & { kind: ReportKind }, { sql, clock }: ReportParts): Promise<number> {
  const { id, workspace, name, mail, webhooks } = due;
  const words = await wordsOf(due, span, { sql, clock });
  const { kind, period } = span;
  const alert: NewAlert = { ...words, kind, rule: id, subject: "", period, percent: 0, owners: [], mail, webhooks };
  const at = new Date(clock.now());
  return sql.begin((tx) => recordAlerts({ workspace: { id: workspace, name }, alerts: [alert], at }, tx));
}

type Words = Pick<NewAlert, "title" | "text" | "data" | "ownMail">;

async function wordsOf(
  { workspace, name }: DueReport,
  { name: period, startMs, endMs }: Span,
  sources: { sql: Database; clock: Clock },
): Promise<Words> {
  const read = (by: string) => {
    const fields = { from: isoTime(startMs), to: isoTime(endMs), by };
    return readUsage({ workspace, keys: null, model: null, fields, rowsMax: usageReportRowsMax }, sources);
  };
  const [byModel, byKey] = [await read("model"), await read("key")];
  const { requests, errors, cost_usd: cost } = byModel.total;
  const text = usageText({ period, cost: parseUsd(cost), requests, errors });
  const models = byModel.data.map((row) => ({ model: row.model ?? "", requests: row.requests, cost_usd: row.cost_usd }));
  const keys = byKey.data.map((row) => ({
    id: row.key_id ?? null,
    name: row.key_name ?? "",
    requests: row.requests,
    cost_usd: row.cost_usd,
  }));
  const title = `Usage of ${period}`;
  const body = `${text}, in the workspace "${name}".

By model, the most expensive ${usageReportRowsMax} at most:

${models.map((row) => listed(row.model, row)).join("\n") || "- none"}

By key:

${keys.map((row) => listed(row.name, row)).join("\n") || "- none"}

The Console's page Spend shows all of it.
`;
  const data = { from: isoTime(startMs), to: isoTime(endMs), requests, errors, cost_usd: cost, models, keys };
  return { title, text, data, ownMail: { subject: title, body } };
}

function listed(name: string, { cost_usd: cost, requests }: { cost_usd: string; requests: number }): string {
  return `- ${name}: ${cost} USD, ${requests} ${requests === 1 ? "request" : "requests"}`;
}
