/** Reads texts, codes and fields from a provider's error in any shape: each provider, and each server behind one, has its own. */
import { asArray, asObject, parseJson } from "../wire/json.ts";
import { pathOfNames, pathsIn, readPath, type FieldPath } from "./field-path.ts";

export interface Told {
  texts: string[];
  /** Codes, types and reasons, in lower case. */
  words: string[];
  /** The fields that it names, each once: first those in fields of the error such as `param`, then those within its texts. */
  paths: FieldPath[];
}

const textFields = new Set(["message", "msg", "description", "detail", "error", "raw"]);
const wordFields = new Set(["code", "type", "status", "reason"]);
const pathFields = new Set(["param", "field", "parameter"]);
/** All others are not entered: some repeat the client's input. */
const outerFields = new Set([
  "error",
  "errors",
  "message",
  "detail",
  "details",
  "metadata",
  "raw",
  "innererror",
  "fieldviolations",
]);

const depthMax = 8;
const valuesMax = 500;
const textsMax = 16;
const textCharactersMax = 2_000;
/** Each is looked up in the request. */
const pathsMax = 8;

/** @param body parsed, or a text that is no JSON; anything */
export function readTold(body: unknown): Told {
  const reading: Told & { values: number } = { texts: [], words: [], paths: [], values: 0 };
  readValue(body, reading, 0);
  const { texts, words, paths } = reading;
  return { texts, words, paths: firstOf([...paths, ...texts.flatMap(pathsIn)]) };
}

function firstOf(paths: readonly FieldPath[]): FieldPath[] {
  return [...new Map(paths.map((path) => [path.join("\n"), path])).values()].slice(0, pathsMax);
}

function readValue(value: unknown, reading: Told & { values: number }, depth: number): void {
  if (depth > depthMax || ++reading.values > valuesMax) return;
  if (typeof value === "string") return readText(value, reading, depth);
  if (Array.isArray(value)) {
    for (const item of asArray(value)) readValue(item, reading, depth + 1);
    return;
  }
  const fields = asObject(value) ?? {};
  for (const name in fields) {
    const field = name.toLowerCase();
    const inner = fields[name];
    if (typeof inner === "string") {
      if (wordFields.has(field)) reading.words.push(inner.toLowerCase());
      if (pathFields.has(field)) reading.paths.push(readPath(inner));
      if (textFields.has(field)) readText(inner, reading, depth);
    } else if (typeof inner === "number" && wordFields.has(field)) reading.words.push(String(inner));
    else if (field === "loc") reading.paths.push(pathOfNames(asArray(inner)));
    else if (outerFields.has(field)) readValue(inner, reading, depth + 1);
  }
}

/** Some servers pass on the error of another as a text. */
function readText(text: string, reading: Told & { values: number }, depth: number): void {
  const begins = text.trimStart()[0];
  if (begins === "{" || begins === "[") {
    const inner = parseJson(text);
    if (inner !== undefined) return readValue(inner, reading, depth + 1);
  }
  if (reading.texts.length < textsMax) reading.texts.push(text.slice(0, textCharactersMax));
}
