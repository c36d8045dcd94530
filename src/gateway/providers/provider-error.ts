/**
 * Reads texts, codes and fields from a provider's error in any shape: each provider, and each server behind one, has its own. Depth, values
 * and texts are bounded, since an error may hold anything. Of the fields that it names, only those in the request itself count
 * (`provenPath`), written in the notation of our own errors, so none of the provider's text reaches a client.
 */
import { asArray, asObject, parseJson } from "./wire/json.ts";

export interface Told {
  texts: string[];
  /** Codes, types and reasons, in lower case. */
  words: string[];
  /** The fields that it names, each once: first those in fields of the error such as `param`, then those within its texts. */
  paths: FieldPath[];
}

/** @param body parsed, or a text that is not JSON; anything */
export function readTold(body: unknown): Told {
  const reading: Told & { values: number } = { texts: [], words: [], paths: [], values: 0 };
  readValue(body, reading, 0);
  const { texts, words, paths } = reading;
  return { texts, words, paths: firstOf([...paths, ...texts.flatMap(pathsIn)]) };
}

const textFields = new Set(["message", "msg", "description", "detail", "error", "raw"]);
const wordFields = new Set(["code", "type", "status", "reason"]);
const pathFields = new Set(["param", "field", "parameter"]);
/** All other fields are skipped: some repeat the client's input. */
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
const pathsLookedUpMax = 8;

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

/** Some servers pass on another server's error as text. */
function readText(text: string, reading: Told & { values: number }, depth: number): void {
  const begins = text.trimStart()[0];
  if (begins === "{" || begins === "[") {
    const inner = parseJson(text);
    if (inner !== undefined) return readValue(inner, reading, depth + 1);
  }
  if (reading.texts.length < textsMax) reading.texts.push(text.slice(0, textCharactersMax));
}

function firstOf(paths: readonly FieldPath[]): FieldPath[] {
  return [...new Map(paths.map((path) => [path.join("\n"), path])).values()].slice(0, pathsLookedUpMax);
}

// Paths of fields

/** Names and indexes from the outside in. */
export type FieldPath = readonly string[];

/** The most characters of a path that are read or shown. */
const pathCharactersMax = 300;
const shownCharactersMax = 200;
const nameCharactersMax = 64;

const pathsMax = 16;

/** Prefixes that providers put before the fields of a body. */
const wrappers = new Set(["", "$", "body", "request", "GenerateContentRequest", "EmbedContentRequest"]);

const mentioned = /(^|[\s`'"(:*])([A-Za-z_$][\w$-]*(?:(?:\.\[?|\[)[\w$-]+\]?)*)/g;

/**
 * The paths that a text mentions, in its order. To tell them from English words, a path must be in quotation marks, have an index or an
 * inner name, be in snake or camel case, or come at the start, before a colon.
 */
function pathsIn(text: string): FieldPath[] {
  const paths: FieldPath[] = [];
  for (const [, names = ""] of text.matchAll(/["']loc["']: ?[([]([^)\]]+)/g)) paths.push(pathOfNames(names.split(",")));
  for (const { 0: match, 1: before = "", 2: path = "", index } of text.matchAll(mentioned)) {
    if (paths.length >= pathsMax) break;
    const after = text[index + match.length];
    const isQuoted = before !== "" && "`'\"".includes(before) && before === after;
    const isFirst = before === "" && after === ":";
    if (isQuoted || isFirst || /[.[_]|[a-z][A-Z]/.test(path)) paths.push(readPath(path));
  }
  return paths.slice(0, pathsMax);
}

/**
 * The beginning of a path that the request has, in the notation of our own errors, such as `messages[2].content`. After the first name,
 * names that it does not have are skipped, since providers put types between fields; an index that it does not have ends the path.
 * @returns null if the request does not even have the first field
 */
export function provenPath(request: Readonly<Record<string, unknown>>, path: FieldPath): string | null {
  let value: unknown = request;
  let shown = "";
  for (const [at, name] of path.entries()) {
    const step = stepInto(value, name, path[at - 1] === "properties");
    if (step === null && (shown === "" || isIndex(name))) break;
    if (step === null) continue;
    if (shown.length + step.text.length > shownCharactersMax) break;
    shown += step.text;
    value = step.value;
  }
  return shown === "" ? null : shown.replace(/^\./, "");
}

/** In the notation of our own errors, such as `messages[2].content`. */
export function pathText(path: FieldPath): string {
  return path
    .map((name) => (isIndex(name) ? `[${name}]` : `.${name}`))
    .join("")
    .replace(/^\./, "");
}

/** Reads that notation. */
export function readPathText(text: string): FieldPath {
  return text.split(/[.[\]]+/).filter((name) => name !== "");
}

/** Most servers write names in either case. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** @param names as in the `loc` of FastAPI, which names alternatives of a type between the fields */
function pathOfNames(names: readonly unknown[]): FieldPath {
  return withoutWrappers(names.slice(0, 32).map((name) => unquoted(nameOf(name).slice(0, pathCharactersMax))));
}

function withoutWrappers(names: readonly string[]): FieldPath {
  const start = names.findIndex((name) => !wrappers.has(name));
  return start === -1 ? [] : names.slice(start).filter((name) => name !== "");
}

function unquoted(name: string): string {
  return name.trim().replaceAll(/^["'`]|["'`]$/g, "");
}

/** Objects and lists are not names, and writing them as a text may throw. */
function nameOf(name: unknown): string {
  return typeof name === "string" || typeof name === "number" ? String(name) : "";
}

/** @param text such as `messages.[2].content`, `messages.3.content.0` or `properties['city']` */
function readPath(text: string): FieldPath {
  return withoutWrappers(
    text
      .slice(0, pathCharactersMax)
      .split(/[.[\]]+/)
      .map(unquoted),
  );
}

/** A step into a value, as it is written. */
interface Step {
  text: string;
  value: unknown;
}

/** @param isMap Google counts the entries of a map: `properties[4].value` is the fifth property */
function stepInto(value: unknown, name: string, isMap: boolean): Step | null {
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    return isIndex(name) && Number(name) < items.length ? { text: `[${Number(name)}]`, value: items[Number(name)] } : null;
  }
  const fields = asObject(value);
  if (fields === null) return null;
  const entry = isMap && isIndex(name) ? Object.keys(fields)[Number(name)] : undefined;
  const own = [name, camelCase(name), snakeCase(name), entry].find((key) => key !== undefined && Object.hasOwn(fields, key));
  return own !== undefined && own.length <= nameCharactersMax && /^[\w$-]+$/.test(own)
    ? { text: `.${own}`, value: fields[own] }
    : null;
}

function isIndex(name: string): boolean {
  return /^\d{1,5}$/.test(name);
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
