/**
 * Reads one parsed record of the Open Source Vulnerability format 1.7 (https://ossf.github.io/osv-schema/) as an advisory.
 *
 * The schema has the fields that this service uses; unknown fields are allowed, as the format requires. `says` completes the sentence
 * "<path> must be …". Texts that JSON allows and the database cannot store are refused: a record is never repaired, so it stays identical
 * to its source. Two faults are accepted, because their meaning is clear and no scan finds the vulnerability of a refused record: null for
 * an optional field, at any depth, and a time with another offset than Z, or with none, which the format means as UTC.
 */
import { Type, type Static, type TObject, type TProperties, type TSchema } from "@sinclair/typebox";
import { TypeCompiler, ValueErrorType, type ValueError } from "@sinclair/typebox/compiler";
import { jsonDepthMax } from "../../http/limits.ts";
import { isoTime } from "../../kernel/clock.ts";
import * as limits from "../limits.ts";
import { ecosystemOfOsvName } from "../versions/ecosystem.ts";
import {
  type Advisory,
  type AdvisoryPackage,
  type AffectedPackage,
  type AffectedRange,
  type RangeEvent,
  canonicalId,
  RecordError,
} from "./advisory.ts";

const Text = Type.String({ says: "a string" });
const Id = Type.String({
  pattern: "^[^\\s\\x00-\\x1f\\x7f]+$",
  maxLength: limits.advisoryIdCharactersMax,
  says: `an id of 1 to ${limits.advisoryIdCharactersMax} characters without spaces`,
});
const Time = Type.String({
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:?\\d{2})?$",
  says: 'a time in UTC such as "2026-11-20T10:00:00Z"',
});
const Version = Type.String({
  minLength: 1,
  maxLength: limits.versionCharactersMax,
  says: `a version of 1 to ${limits.versionCharactersMax} characters, as a string`,
});
const Name = Type.String({
  minLength: 1,
  maxLength: limits.advisoryNameCharactersMax,
  says: `a name of 1 to ${limits.advisoryNameCharactersMax} characters`,
});
const Specific = Type.Record(Type.String(), Type.Unknown(), { says: "an object" });
const Ids = list(Id, limits.advisoryNamesMax);
const Severities = list(object({ type: Text, score: Text }), limits.advisoryNamesMax);

const Range = object({
  type: Type.String({ pattern: "^(SEMVER|ECOSYSTEM|GIT)$", says: '"SEMVER", "ECOSYSTEM" or "GIT"' }),
  repo: Type.Optional(Text),
  events: list(
    object({
      introduced: Type.Optional(Version),
      fixed: Type.Optional(Version),
      last_affected: Type.Optional(Version),
      limit: Type.Optional(Version),
    }),
    limits.advisoryEventsMax,
  ),
  database_specific: Type.Optional(Specific),
});

const Affected = object({
  package: Type.Optional(object({ ecosystem: Name, name: Name, purl: Type.Optional(Text) })),
  severity: Type.Optional(Severities),
  ranges: Type.Optional(list(Range, limits.advisoryRangesMax)),
  versions: Type.Optional(list(Version, limits.advisoryVersionsMax)),
  ecosystem_specific: Type.Optional(Specific),
  database_specific: Type.Optional(Specific),
});

const OsvRecord = object({
  schema_version: Type.Optional(Text),
  id: Id,
  modified: Time,
  published: Type.Optional(Time),
  withdrawn: Type.Optional(Time),
  aliases: Type.Optional(Ids),
  upstream: Type.Optional(Ids),
  related: Type.Optional(Ids),
  summary: Type.Optional(Text),
  details: Type.Optional(Text),
  severity: Type.Optional(Severities),
  affected: Type.Optional(list(Affected, limits.advisoryPackagesMax)),
  references: Type.Optional(list(object({ type: Text, url: Text }), limits.advisoryReferencesMax)),
  credits: Type.Optional(
    list(
      object({ name: Text, contact: Type.Optional(list(Text, limits.advisoryNamesMax)), type: Type.Optional(Text) }),
      limits.advisoryNamesMax,
    ),
  ),
  database_specific: Type.Optional(Specific),
});
type OsvRecord = Static<typeof OsvRecord>;

const checker = TypeCompiler.Compile(OsvRecord);

/** @throws RecordError with the path of the fault and the expected value */
export function readAdvisory(value: unknown): Advisory {
  const record: unknown = checker.Check(value) ? value : withoutNulls(value);
  if (!checker.Check(record)) {
    const error = checker.Errors(record).First();
    throw error === undefined ? new RecordError("", "is not an OSV record") : recordErrorFrom(error);
  }
  requireStorable(value);
  const timeIn = (field: "published" | "withdrawn") => (record[field] === undefined ? null : utcOf(field, record[field]));
  const id = canonicalId(record.id);
  const others = (ids: readonly string[] = []) => [...new Set(ids.map(canonicalId))].filter((other) => other !== id);
  return {
    id,
    schemaVersion: record.schema_version ?? "1.0.0",
    modified: utcOf("modified", record.modified),
    published: timeIn("published"),
    withdrawn: timeIn("withdrawn"),
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

function list<T extends TSchema>(items: T, itemsMax: number) {
  return Type.Array(items, { maxItems: itemsMax, says: `a list of at most ${itemsMax} entries` });
}

function object<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { says: "an object" });
}

/** Fields whose content is the database's own; it stays as it is. */
const ownContent = new Set(["database_specific", "ecosystem_specific"]);

/** The format allows null for absent fields of a record, and writers use it for those of its parts. */
function withoutNulls(value: unknown, depth = 0): unknown {
  // `requireStorable` refuses what is deeper.
  if (typeof value !== "object" || value === null || depth === jsonDepthMax) return value;
  if (Array.isArray(value)) return value.map((entry: unknown) => withoutNulls(entry, depth + 1));
  const present = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(present.map(([key, field]) => [key, ownContent.has(key) ? field : withoutNulls(field, depth + 1)]));
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

/** @throws RecordError for the first text that cannot be stored, and for more than `jsonDepthMax` levels */
function requireStorable(value: unknown): void {
  requireBelow(value, "", 0);
}

function requireBelow(value: unknown, path: string, depth: number): void {
  if (typeof value === "string") return requireText(value, path);
  if (typeof value !== "object" || value === null) return;
  if (depth === jsonDepthMax) throw new RecordError("", `is nested more than ${jsonDepthMax} levels deep`);
  if (Array.isArray(value)) return value.forEach((entry: unknown, index) => requireBelow(entry, `${path}[${index}]`, depth + 1));
  for (const [key, field] of Object.entries(value)) {
    const below = path === "" ? key : `${path}.${key}`;
    requireText(key, below);
    requireBelow(field, below, depth + 1);
  }
}

function requireText(text: string, path: string): void {
  if (text.includes("\0")) throw new RecordError(path, "has the character U+0000, which cannot be stored");
  if (!text.isWellFormed()) throw new RecordError(path, "has half a surrogate pair, which is not a character");
}

/** The same time with Z. @throws RecordError for 31 June, which the schema's pattern allows */
function utcOf(field: string, time: string): string {
  const [, local = "", fraction = "", hours, minutes = ""] = /^(.{19})(\.\d+)?(?:Z|([+-]\d\d):?(\d\d))?$/.exec(time) ?? [];
  const [written, utc] = ["Z", hours === undefined ? "Z" : `${hours}:${minutes}`].map((zone) => Date.parse(local + zone));
  if (
    written === undefined ||
    utc === undefined ||
    Number.isNaN(written + utc) ||
    !isoTime(written).startsWith(local.slice(0, 10))
  )
    throw new RecordError(field, `is "${time}", which is not a date of the calendar`);
  return `${isoTime(utc).slice(0, 19)}${fraction}Z`;
}

type OsvAffected = Static<typeof Affected>;

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

type OsvRange = NonNullable<OsvAffected["ranges"]>[number];

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

/** The schema allows only these types. */
function rangeType(type: string): AffectedRange["type"] {
  return type === "SEMVER" || type === "GIT" ? type : "ECOSYSTEM";
}
