/**
 * The fields of the Open Source Vulnerability format 1.7 (https://ossf.github.io/osv-schema/) that this service uses. Unknown fields are
 * allowed, as the format requires. `says` completes the sentence "<path> must be …".
 */
import { Type, type Static, type TObject, type TProperties, type TSchema } from "@sinclair/typebox";
import {
  advisoryEventsMax,
  advisoryIdCharactersMax,
  advisoryNameCharactersMax,
  advisoryNamesMax,
  advisoryPackagesMax,
  advisoryRangesMax,
  advisoryReferencesMax,
  advisoryVersionsMax,
  versionCharactersMax,
} from "../limits.ts";

const Text = Type.String({ says: "a string" });
const Id = Type.String({
  pattern: "^[^\\s\\x00-\\x1f\\x7f]+$",
  maxLength: advisoryIdCharactersMax,
  says: `an id of 1 to ${advisoryIdCharactersMax} characters without spaces`,
});
const Time = Type.String({
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$",
  says: 'a time in UTC such as "2026-11-20T10:00:00Z"',
});
const Version = Type.String({
  minLength: 1,
  maxLength: versionCharactersMax,
  says: `a version of 1 to ${versionCharactersMax} characters, as a string`,
});
const Name = Type.String({
  minLength: 1,
  maxLength: advisoryNameCharactersMax,
  says: `a name of 1 to ${advisoryNameCharactersMax} characters`,
});
const Specific = Type.Record(Type.String(), Type.Unknown(), { says: "an object" });
const Ids = list(Id, advisoryNamesMax);

const Severities = list(object({ type: Text, score: Text }), advisoryNamesMax);

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
    advisoryEventsMax,
  ),
  database_specific: Type.Optional(Specific),
});

const Affected = object({
  package: Type.Optional(object({ ecosystem: Name, name: Name, purl: Type.Optional(Text) })),
  severity: Type.Optional(Severities),
  ranges: Type.Optional(list(Range, advisoryRangesMax)),
  versions: Type.Optional(list(Version, advisoryVersionsMax)),
  ecosystem_specific: Type.Optional(Specific),
  database_specific: Type.Optional(Specific),
});
export type OsvAffected = Static<typeof Affected>;

export const OsvRecord = object({
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
  affected: Type.Optional(list(Affected, advisoryPackagesMax)),
  references: Type.Optional(list(object({ type: Text, url: Text }), advisoryReferencesMax)),
  credits: Type.Optional(
    list(
      object({ name: Text, contact: Type.Optional(list(Text, advisoryNamesMax)), type: Type.Optional(Text) }),
      advisoryNamesMax,
    ),
  ),
  database_specific: Type.Optional(Specific),
});
export type OsvRecord = Static<typeof OsvRecord>;

function object<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { says: "an object" });
}

function list<T extends TSchema>(items: T, itemsMax: number) {
  return Type.Array(items, { maxItems: itemsMax, says: `a list of at most ${itemsMax} entries` });
}
