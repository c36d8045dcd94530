/** Small texts and numbers within the bounds of a JSON Schema. */
import type { JsonObject } from "../wire/json.ts";
import { UnsatisfiableError } from "./schema-work.ts";

/** A value of each format of JSON Schema that has a syntax. */
const ofFormat: Record<string, string> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  duration: "PT0S",
  email: "user@example.com",
  "idn-email": "user@example.com",
  hostname: "example.com",
  "idn-hostname": "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  iri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** An empty text, or as long as it must be. A pattern beside a known format is taken to say the same as the format. */
export function textWithin(schema: JsonObject, at: string): string {
  const { format, pattern, minLength } = schema;
  const known = typeof format === "string" && Object.hasOwn(ofFormat, format) ? ofFormat[format] : undefined;
  if (known !== undefined) return known;
  if (pattern !== undefined) throw new UnsatisfiableError(`${at}.pattern`, "the sandbox makes no text for a pattern");
  return "x".repeat(typeof minLength === "number" ? Math.min(minLength, textMax) : 0);
}

/** More than any schema may ask for. */
const textMax = 100_000;

/** 0, or the number within the bounds that is nearest to it. */
export function numberWithin(schema: JsonObject, { at, whole }: { at: string; whole: boolean }): number {
  const { multipleOf } = schema;
  const step = typeof multipleOf === "number" ? multipleOf : whole ? 1 : 0;
  const [least, least2] = [numberOf(schema, "minimum"), numberOf(schema, "exclusiveMinimum")];
  const [most, most2] = [numberOf(schema, "maximum"), numberOf(schema, "exclusiveMaximum")];
  const low = Math.max(least ?? -Infinity, least2 ?? -Infinity);
  const high = Math.min(most ?? Infinity, most2 ?? Infinity);
  const fits = (value: number) => value >= low && value <= high && value !== least2 && value !== most2;
  const onStep = (value: number) => (step === 0 ? [value] : [Math.ceil(value / step) * step, Math.floor(value / step) * step]);
  const near = [low, high]
    .filter(Number.isFinite)
    .flatMap((bound) => [...onStep(bound), ...onStep(bound + step), ...onStep(bound - step)]);
  const between = [(low + high) / 2, low + 1, high - 1].filter(Number.isFinite).flatMap(onStep);
  const value = [0, ...near, ...between].find(fits);
  if (value !== undefined) return value + 0;
  throw new UnsatisfiableError(
    `${at}.${least === null && least2 === null ? "maximum" : "minimum"}`,
    "no number is within the bounds",
  );
}

function numberOf(schema: JsonObject, keyword: string): number | null {
  const value = schema[keyword];
  return typeof value === "number" ? value : null;
}
