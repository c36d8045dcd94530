/** One schema for what two say together, as `allOf` and keywords beside a `$ref` mean it. */
import { asArray, asObject, type JsonObject } from "../wire/json.ts";
import { UnsatisfiableError, type SchemaWork } from "./schema-work.ts";

/** Keywords that no value violates. */
const notes = new Set([
  "title",
  "description",
  "default",
  "examples",
  "$defs",
  "definitions",
  "$schema",
  "$id",
  "$comment",
  "deprecated",
]);

/** @throws UnsatisfiableError for a keyword of which both say something else, where that is not simple to unite */
export function mergedSchema(
  [one, other]: readonly [JsonObject, JsonObject],
  { at, work }: { at: string; work: SchemaWork },
): JsonObject {
  const [entries, added] = [new Map(Object.entries(one)), Object.entries(other)];
  work.take(entries.size + added.length, at);
  for (const [keyword, value] of added) {
    const before = entries.get(keyword);
    if (before === undefined || notes.has(keyword)) entries.set(keyword, value);
    else entries.set(keyword, united(keyword, [before, value], { at, work }));
  }
  return Object.fromEntries(entries);
}

function united(
  keyword: string,
  [one, other]: readonly [unknown, unknown],
  { at, work }: { at: string; work: SchemaWork },
): unknown {
  const texts = [JSON.stringify(one), JSON.stringify(other)] as const;
  work.read(texts[0].length + texts[1].length, at);
  if (texts[0] === texts[1]) return one;
  if (keyword === "required") return [...new Set([...asArray(one), ...asArray(other)])];
  if (keyword === "type") return [...new Set([one].flat()).intersection(new Set([other].flat()))];
  if (keyword === "properties") return unitedProperties(asObject(one) ?? {}, asObject(other) ?? {});
  throw new UnsatisfiableError(`${at}.${keyword}`, "two parts of the schema say different things");
}

function unitedProperties(one: JsonObject, other: JsonObject): JsonObject {
  const entries = new Map(Object.entries(one));
  for (const [name, schema] of Object.entries(other)) {
    entries.set(name, entries.has(name) ? { allOf: [entries.get(name), schema] } : schema);
  }
  return Object.fromEntries(entries);
}
