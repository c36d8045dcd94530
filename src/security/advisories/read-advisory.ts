/** Reads a parsed OSV record as an advisory. */
import { TypeCompiler, ValueErrorType, type ValueError } from "@sinclair/typebox/compiler";
import { isJsonObject } from "../../http/json-object.ts";
import { ecosystemOfOsvName } from "../versions/ecosystem.ts";
import type { Advisory, AdvisoryPackage, AffectedPackage, AffectedRange, RangeEvent } from "./advisory.ts";
import { canonicalId } from "./advisory-id.ts";
import { OsvRecord, type OsvAffected } from "./osv-schema.ts";
import { RecordError } from "./reading/record-error.ts";
import { requireStorable } from "./require-storable.ts";

type OsvRange = NonNullable<OsvAffected["ranges"]>[number];

const checker = TypeCompiler.Compile(OsvRecord);

/** @throws RecordError with the path of the fault and the expected value */
export function readAdvisory(value: unknown): Advisory {
  const record = withoutNulls(value);
  if (!checker.Check(record)) {
    const error = checker.Errors(record).First();
    throw error === undefined ? new RecordError("", "is not an OSV record") : recordErrorFrom(error);
  }
  requireStorable(value);
  for (const field of ["modified", "published", "withdrawn"] as const) requireDay(field, record[field]);
  const id = canonicalId(record.id);
  const others = (ids: readonly string[] = []) => [...new Set(ids.map(canonicalId))].filter((other) => other !== id);
  return {
    id,
    schemaVersion: record.schema_version ?? "1.0.0",
    modified: record.modified,
    published: record.published ?? null,
    withdrawn: record.withdrawn ?? null,
    aliases: others(record.aliases),
    upstream: others(record.upstream),
    related: others(record.related),
    summary: record.summary ?? "",
    details: record.details ?? "",
    severities: record.severity ?? [],
    affected: (record.affected ?? []).map(affectedFrom),
    references: record.references ?? [],
    credits: (record.credits ?? []).map(({ name, contact, type }) => ({ name, contact: contact ?? [], type: type ?? null })),
    databaseSpecific: record.database_specific ?? {},
  };
}

function affectedFrom(affected: OsvAffected, index: number): AffectedPackage {
  return {
    package: affected.package === undefined ? null : packageFrom(affected.package),
    severities: affected.severity ?? [],
    ranges: (affected.ranges ?? []).map((range, at) => rangeFrom(range, `affected[${index}].ranges[${at}]`)),
    versions: affected.versions ?? [],
    ecosystemSpecific: affected.ecosystem_specific ?? {},
    databaseSpecific: affected.database_specific ?? {},
  };
}

function packageFrom({ ecosystem, name, purl }: NonNullable<OsvAffected["package"]>): AdvisoryPackage {
  return { ecosystem: ecosystemOfOsvName(ecosystem), ecosystemName: ecosystem, name, purl: purl ?? null };
}

function rangeFrom(range: OsvRange, path: string): AffectedRange {
  if (range.type === "GIT" && range.repo === undefined)
    throw new RecordError(`${path}.repo`, "is missing, and a GIT range needs it");
  const events = range.events.map((event, index) => eventFrom(event, `${path}.events[${index}]`));
  if (!events.some((event) => "introduced" in event)) {
    throw new RecordError(`${path}.events`, 'has no event "introduced", so the range has no beginning');
  }
  return { type: rangeType(range.type), repo: range.repo ?? null, events, databaseSpecific: range.database_specific ?? {} };
}

function eventFrom(event: OsvRange["events"][number], path: string): RangeEvent {
  const { introduced, fixed, last_affected, limit } = event;
  const found: RangeEvent[] = [];
  if (introduced !== undefined) found.push({ introduced });
  if (fixed !== undefined) found.push({ fixed });
  if (last_affected !== undefined) found.push({ last_affected });
  if (limit !== undefined) found.push({ limit });
  const [only] = found;
  if (only === undefined || found.length > 1) {
    throw new RecordError(path, `must have exactly one of introduced, fixed, last_affected and limit, and has ${found.length}`);
  }
  return only;
}

/** The schema allows only these three. */
function rangeType(type: string): AffectedRange["type"] {
  return type === "SEMVER" || type === "GIT" ? type : "ECOSYSTEM";
}

/** The pattern of the schema allows the 31st of June. */
function requireDay(field: string, time: string | undefined): void {
  if (time === undefined) return;
  const milliseconds = Date.parse(time);
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString().slice(0, 10) !== time.slice(0, 10)) {
    throw new RecordError(field, `is "${time}", which is not a date of the calendar`);
  }
}

/** The format allows null for an absent field. */
function withoutNulls(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const record = presentFields(value);
  const affected = record["affected"];
  if (Array.isArray(affected))
    record["affected"] = affected.map((entry: unknown) => (isJsonObject(entry) ? presentFields(entry) : entry));
  return record;
}

function presentFields(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

function recordErrorFrom(error: ValueError): RecordError {
  const path = error.path
    .replaceAll(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replace(/^\./, "");
  const says = String(error.schema["says"] ?? "of another kind");
  if (error.type === ValueErrorType.ObjectRequiredProperty) return new RecordError(path, `is missing; it must be ${says}`);
  return new RecordError(path, `must be ${says}, and is ${described(error.value)}`);
}

function described(value: unknown): string {
  if (typeof value === "string") return value.length > 60 ? `a string of ${value.length} characters` : JSON.stringify(value);
  if (Array.isArray(value)) return `a list of ${value.length} entries`;
  if (value === null || value === undefined) return "null";
  return typeof value === "object" ? "an object" : `the ${typeof value} ${String(value)}`;
}
