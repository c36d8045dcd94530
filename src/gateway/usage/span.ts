/** Reads which time and which sums of usage are asked for. */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { instantOf, isTimeZone } from "./time-zone.ts";
import { usageDaysDefault, usageDaysMax, usageHourDaysMax } from "../limits.ts";
import { dayStart } from "./periods.ts";
import { usageDimensions, usagePeriods, type UsageDimension, type UsagePeriod } from "./schema.ts";

const time =
  "a date such as 2026-11-20 (midnight in the time zone), or a time at a full quarter of an hour such as 2026-11-20T13:15Z";

export const UsageFields = Type.Object({
  from: Type.Optional(Type.String({ maxLength: 40, description: time })),
  to: Type.Optional(Type.String({ maxLength: 40, description: `${time}, which is not part of the sums` })),
  by: Type.Optional(
    Type.String({
      maxLength: 80,
      description: `some of ${[...usagePeriods, ...usageDimensions].join(", ")}, with commas between`,
    }),
  ),
  tz: Type.Optional(Type.String({ maxLength: 64, description: "an IANA time zone such as Europe/Berlin" })),
});
export type UsageFields = Static<typeof UsageFields>;

export interface UsageSpan {
  fromMs: number;
  /** Not part of the span. */
  toMs: number;
  zone: string;
  /** null: the whole span is one period. */
  period: UsagePeriod | null;
  dimensions: ReadonlySet<UsageDimension>;
}

const quarterMs = 900_000;
const dayMs = 86_400_000;

/**
 * By default the last days to the present quarter of an hour, in UTC, as one sum.
 * @throws DomainError invalid_field
 */
export function readSpan({ from, to, by = "", tz: zone = "UTC" }: UsageFields, nowMs: number): UsageSpan {
  if (!isTimeZone(zone)) throw refusal("tz", `Cannot take "${zone}" as tz: an IANA time zone such as Europe/Berlin is needed`);
  const presentEnd = Math.ceil((nowMs + 1) / quarterMs) * quarterMs;
  const toMs = to === undefined ? presentEnd : readTime({ field: "to", text: to, zone });
  const defaultFrom = (): number => dayStart(toMs - 1, { daysBefore: usageDaysDefault - 1, zone });
  const fromMs = from === undefined ? defaultFrom() : readTime({ field: "from", text: from, zone });
  const words = readWords(by);
  if (fromMs >= toMs) throw refusal("from", "Cannot sum a time that ends before it begins: a from before to is needed");
  // A day more, since days around daylight saving are longer.
  const daysMax = words.period === "hour" ? usageHourDaysMax : usageDaysMax;
  if (toMs - fromMs > (daysMax + 1) * dayMs)
    throw refusal("from", `Cannot sum more than ${daysMax} days${words.period === "hour" ? " by hours" : ""}`);
  return { fromMs, toMs, zone, ...words };
}

function readWords(by: string): Pick<UsageSpan, "period" | "dimensions"> {
  const words = by === "" ? [] : by.split(",").map((word) => word.trim());
  const periods = usagePeriods.filter((period) => words.includes(period));
  const dimensions = usageDimensions.filter((dimension) => words.includes(dimension));
  const [period = null, second] = periods;
  const unknown = words.find((word) => ![...periods, ...dimensions].some((known) => known === word));
  if (unknown !== undefined)
    throw refusal("by", `Cannot sum by "${unknown}": ${[...usagePeriods, ...usageDimensions].join(", ")} are possible`);
  if (second) throw refusal("by", `Cannot sum by ${period} and ${second}: one of them is needed`);
  return { period, dimensions: new Set(dimensions) };
}

function readTime({ field, text, zone }: { field: "from" | "to"; text: string; zone: string }): number {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const ms = isDate || isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms) || ms < 0) throw refusal(field, `Cannot take "${text}" as ${field}: ${time} is needed`);
  const instant = isDate ? instantOf(ms, zone) : ms;
  if (instant % quarterMs === 0) return instant;
  throw refusal(field, `Cannot take "${text}" as ${field}: only quarters of an hour are kept`);
}

function refusal(field: keyof UsageFields, message: string): DomainError {
  return new DomainError("invalid_field", message, { field });
}
