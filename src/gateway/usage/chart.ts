/**
 * What a chart draws: one measure of a workspace by period, in all or by a name, with the time before it and, for the current month, a
 * forecast. The sums are those of usage.ts, so a chart, its table and the ledger agree to the nano-dollar.
 *
 * A chart's query is bounded whatever the size of the log: at most 400 periods (31 days of hours), each from blocks of rolled-up sums, and
 * the last minute of the log. Codes and times of the first token are counted by key or by model, and not by both.
 *
 * The forecast is what was spent so far and, for the rest of the month, the pace of the last seven days. A workspace that began within
 * them has the pace since its first request, but of one day at least. There is no seasonality in it, since seven days hold every weekday.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Actor } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { KeyId } from "../../kernel/ids.ts";
import { formatUsd, parseUsd } from "../../kernel/money.ts";
import {
  type ChartGroup,
  chartGroups,
  type ChartReading,
  type ChartSources,
  countedValues,
  isCounted,
  readSums,
  summedValues,
} from "./chart-values.ts";
import { instantOf, localTime, periodsOf, readSpan, UsageFields, type UsageSpan } from "./periods.ts";
import { chartMeasures, type ChartView, usagePeriods, type UsagePeriod, type UsageSums } from "./schema.ts";
import { keysOf } from "./usage.ts";

const oneOf = <const Word extends string>(words: readonly Word[], title: string) =>
  Type.Unsafe<Word>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      { title, description: `one of ${words.join(", ")}` },
    ),
  );

export const ChartFields = Type.Composite([
  Type.Object({ measure: oneOf(chartMeasures, "What is measured") }),
  Type.Omit(UsageFields, ["by"]),
  Type.Object({
    by: Type.Optional(oneOf(chartGroups, "What gets its own values; `code` only for errors, and nothing for first_token")),
    step: Type.Optional(oneOf(usagePeriods, "The length of a period; default: by the length of the time")),
    before: Type.Optional(oneOf(["true", "false"], "With the time before")),
  }),
]);
export type ChartFields = Static<typeof ChartFields>;

interface Asked {
  workspace: ChartReading["workspace"];
  /** A key of the workspace; null: any. */
  key: KeyId | null;
  /** The email of a member; null: any. */
  member: string | null;
  /** null: any. */
  model: string | null;
  /** null: any. */
  provider: string | null;
  fields: ChartFields;
  /** How many names have their own values. */
  seriesMax: number;
  /** How many names are listed. */
  rowsMax: number;
}

/**
 * Members see their own, overseers all.
 * @throws DomainError not_found for a key that the actor may not see; invalid_field
 */
export async function showChart(
  { actor, key, member, ...asked }: Asked & { actor: Actor },
  sources: ChartSources,
): Promise<ChartView> {
  const keys = await keysOf({ actor, workspace: asked.workspace, key, member }, sources);
  return readChart({ ...asked, keys }, sources);
}

type Request = Omit<Asked, "key" | "member"> & { keys: KeyId[] | null };

async function readChart(request: Request, sources: ChartSources): Promise<ChartView> {
  const { measure, by = null, step: asked, before, ...time } = request.fields;
  requireAnswer(request, by);
  const now = sources.clock.now();
  const whole = readSpan(time, now);
  const step = asked ?? usualStep(whole);
  const span = readSpan({ ...time, by: step }, now);
  const periods = periodsOf(span, step);
  const reading: ChartReading = { ...request, measure, by, step, span, periods };
  const drawn = await (isCounted(measure, by) ? countedValues : summedValues)(reading, sources);
  return {
    measure,
    unit: units[measure],
    from: isoTime(span.fromMs),
    to: isoTime(span.toMs),
    tz: span.zone,
    step,
    periods: periods.map(({ name, startMs }) => ({ period: name, starts_at: isoTime(startMs) })),
    ...drawn,
    before: before === "true" ? await valuesBefore(reading, sources) : null,
    forecast: measure === "spend" ? await forecastOf(reading, drawn.total, sources) : null,
  };
}

const units = { spend: "usd", requests: "requests", errors: "requests", tokens: "tokens", first_token: "ms" } as const;

/** @throws DomainError invalid_field */
function requireAnswer({ fields: { measure }, keys, model, provider }: Request, by: ChartGroup | null): void {
  if (by === "code" && measure !== "errors") throw refusal("by", `Only errors have a code: ${measure} cannot be charted by code`);
  if (by !== null && measure === "first_token") throw refusal("by", `Times of the first token cannot be charted by ${by}`);
  if (!isCounted(measure, by) || keys === null || (model === null && provider === null)) return;
  const field = model === null ? "provider" : "model";
  throw refusal(field, `Codes and times of the first token are counted by key and by ${field}, but not by both`);
}

function refusal(field: string, message: string): DomainError {
  return new DomainError("invalid_field", message, { field });
}

const dayMs = 86_400_000;
const hoursUpTo = 2 * dayMs;
const daysUpTo = 100 * dayMs;

function usualStep({ fromMs, toMs }: UsageSpan): UsagePeriod {
  if (toMs - fromMs <= hoursUpTo) return "hour";
  return toMs - fromMs <= daysUpTo ? "day" : "month";
}

// The time before

async function valuesBefore(reading: ChartReading, sources: ChartSources): Promise<ChartView["before"]> {
  const { measure, step } = reading;
  const span = spanBefore(reading);
  if (span === null) return null;
  const periods = periodsOf(span, step);
  const drawn = await (measure === "first_token" ? countedValues : summedValues)(
    { ...reading, by: null, span, periods },
    sources,
  );
  const { values, total } = measure === "first_token" ? (drawn.data[0] ?? drawn.sums) : drawn.sums;
  return { from: isoTime(span.fromMs), to: isoTime(span.toMs), values: values ?? [], total };
}

/** The month before a whole month; else the same number of days, or of hours, before. */
function spanBefore({ span, step }: Pick<ChartReading, "span" | "step">): UsageSpan | null {
  const { fromMs, toMs, zone } = span;
  const local = new Date(localTime(fromMs, zone));
  const fromBefore = isMonth(span)
    ? instantOf(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() - 1, 1), zone)
    : step === "hour"
      ? fromMs - (toMs - fromMs)
      : instantOf(local.getTime() - Math.round((toMs - fromMs) / dayMs) * dayMs, zone);
  return fromBefore < 0 ? null : { ...span, fromMs: fromBefore, toMs: fromMs };
}

/** Whether it is one whole month of its zone. */
function isMonth({ fromMs, toMs, zone }: UsageSpan): boolean {
  const local = new Date(localTime(fromMs, zone));
  const next = Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 1);
  return local.getUTCDate() === 1 && local.getTime() % dayMs === 0 && instantOf(next, zone) === toMs;
}

// The forecast

const paceDays = 7;
/** Requests in this time before the last days show that the workspace did not begin within them. */
const earlierDays = 28;
const quarterMs = 900_000;

async function forecastOf(reading: ChartReading, total: UsageSums, sources: ChartSources): Promise<ChartView["forecast"]> {
  const { span } = reading;
  const now = sources.clock.now();
  if (!isMonth(span) || now < span.fromMs || now >= span.toMs) return null;
  const end = Math.ceil((now + 1) / quarterMs) * quarterMs;
  const last = { fromMs: Math.max(0, end - paceDays * dayMs), toMs: end, zone: "UTC" };
  const [recent, earlier] = await Promise.all([
    readSums(reading, { span: last, by: "day", seriesMax: null }, sources),
    readSums(
      reading,
      { span: { ...last, fromMs: Math.max(0, last.fromMs - earlierDays * dayMs), toMs: last.fromMs }, by: "", seriesMax: null },
      sources,
    ),
  ]);
  const first = Date.parse(recent.data[0]?.starts_at ?? isoTime(last.fromMs));
  const since = earlier.total.requests > 0 ? last.fromMs : Math.min(first, end - dayMs);
  const spent = parseUsd(recent.total.cost_usd);
  const over = (ms: number): bigint => (spent * BigInt(ms)) / BigInt(end - since);
  return {
    total_usd: formatUsd(parseUsd(total.cost_usd) + over(Math.max(0, span.toMs - end))),
    usd_a_day: formatUsd(over(dayMs)),
    since: isoTime(since),
  };
}
