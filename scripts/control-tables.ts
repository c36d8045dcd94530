/**
 * Writes what is derived from the endpoints of the control API: the verbs of the command line (`scripts/weir/verbs.jsonl`), and the lists
 * of docs/reference/control-api.md and docs/reference/command-line.md: `node_modules/.bin/bun scripts/control-tables.ts`. Tests compare the
 * files with the endpoints, so a changed endpoint fails them until this has run.
 *
 * A verb's flag is a field: its name with dashes, its kind of value from the schema, and its help from the schema's title, or else its
 * description. What a schema does not say, such as a short name, is in the endpoint's `command`. The command line reads the file, since
 * importing the endpoints loads the whole server, which takes longer than most commands.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import type { Command, Endpoint, FlagWords } from "../src/control-api/endpoint.ts";
import { endpoints } from "../src/control-api/endpoints.ts";
import { idWords } from "../src/openapi/control-operations.ts";
import type { Kind } from "./weir/value.ts";
import { rowsFile, type Verb, type FlagRow, type VerbRow } from "./weir/verb.ts";

/** A line for each endpoint, with the verb that calls it. */
function endpointList(): string {
  const width = Math.max(...endpoints.map(({ path }) => path.length));
  const lines = endpoints.map(({ method, path, command }) =>
    `${method.padEnd(6)} ${path.padEnd(width)}  ${command?.name ?? ""}`.trimEnd(),
  );
  return lines.join("\n");
}

/** A line for each noun, with its verbs. */
function verbList(verbs: readonly Verb[]): string {
  const nouns = [...new Set(verbs.map(({ noun }) => noun))];
  const width = Math.max(...nouns.map((noun) => noun.length));
  const lines = nouns.map((noun) => {
    const own = verbs.filter((verb) => verb.noun === noun && verb.verb !== "").map(({ verb }) => verb);
    return `${noun.padEnd(width)}  ${own.join(", ")}`.trimEnd();
  });
  return lines.join("\n");
}

const lists: Record<string, (verbs: readonly Verb[]) => string> = {
  "src/control-api/endpoints.ts": endpointList,
  "scripts/weir/verbs.ts": verbList,
};

/** Replaces each block of the page that follows a comment "Made by scripts/control-tables.ts from <file>". */
export function withLists(page: string, verbs: readonly Verb[]): string {
  return page.replace(
    /(<!-- Made by scripts\/control-tables\.ts from (\S+) -->\n\n```[^\n]*\n)[^`]*(```)/g,
    (whole, start: string, source: string, end: string) => {
      const list = lists[source];
      return list === undefined ? whole : `${start}${list(verbs)}\n${end}`;
    },
  );
}

/** The pages with lists. */
export const controlPages = ["control-api.md", "command-line.md"].map((name) =>
  join(import.meta.dirname, "../docs/reference", name),
);

/** The contents of verbs.jsonl: one line for each verb of an endpoint. */
export function verbLines(): string {
  return derivedVerbs()
    .map((row) => `${JSON.stringify(row)}\n`)
    .join("");
}

/** A verb for each endpoint that names one, in their order. */
function derivedVerbs(): VerbRow[] {
  return endpoints.flatMap((endpoint) => {
    const { command } = endpoint;
    return command === null || command.isStep === true ? [] : [rowOf(endpoint, command)];
  });
}

function rowOf(
  { method, path, summary, fields, progress, takesToolsKey }: Endpoint,
  { name, flags = {}, confirm, example }: Command,
): VerbRow {
  const [noun = "", verb = ""] = name.split(" ");
  const idFlags = path.includes("/:id") ? [idFlag(path, flags["id"])] : [];
  const fieldFlags = Object.entries(fields.properties).flatMap(([field, schema]) => {
    const words = flags[field];
    const required = fields.required?.includes(field) ?? false;
    return words === null ? [] : [flagOf({ field, schema, required }, wordsOf(words))];
  });
  return {
    noun,
    verb,
    summary,
    method,
    path,
    ...(progress && { progress }),
    ...(takesToolsKey && { takesToolsKey }),
    flags: [...idFlags, ...fieldFlags],
    ...(confirm !== undefined && { confirm }),
    ...(example !== undefined && { example }),
  };
}

function wordsOf(words: string | FlagWords = {}): FlagWords {
  return typeof words === "string" ? { flag: words } : words;
}

/** The path's `:id`. */
function idFlag(path: string, words: string | FlagWords | null = null): FlagRow {
  const [, noun = ""] = path.split("/");
  const { flag: name = "id" } = wordsOf(words ?? {});
  const takes = name === "id" || name === "email" ? name : "text";
  return { name, field: "id", takes, required: true, help: asHelp(idWords[noun] ?? "id", takes) };
}

interface Field {
  field: string;
  schema: TSchema;
  required: boolean;
}

function flagOf({ field, schema, required }: Field, words: FlagWords): FlagRow {
  const takes = words.bare === true ? bareKind(schema) : takesOf(field, schema, words);
  return {
    name: words.flag ?? field.replaceAll("_", "-"),
    field,
    takes,
    ...(required && { required }),
    ...(words.unlessAs === true && { requiredUnlessAs: true }),
    help: asHelp(String(schema["title"] ?? schema["description"] ?? ""), takes),
  };
}

/** A title begins a sentence, and a description completes "… is needed". Both describe JSON, whereas people type words and file names. */
function asHelp(text: string, takes: Kind | string[]): string {
  const plain = text.replace(/,$/, "").replace(/^the (?=id |month )/, "");
  const words = /^[A-Z][-a-z ]/.test(plain) ? plain.charAt(0).toLowerCase() + plain.slice(1) : plain;
  return typeof takes === "string" ? (typedWords[takes]?.(words) ?? words) : words;
}

const withCommas = (words: string): string =>
  words.includes("comma") ? words : words.replace(/(?=;)|$/, ", separated by commas");
const withWord = (word: string) => (words: string) => words.replace(/\bnull\b/, word);

const typedWords: Partial<Record<Kind, (words: string) => string>> = {
  time: (words) => (words.includes("such as") ? words : `${words}, such as 2026-11-20T00:00:00Z`),
  onOff: (words) => words.replace(/\btrue\b/, "on"),
  usdOrNone: withWord("none"),
  numberOrNone: withWord("none"),
  textOrNone: withWord("none"),
  numberOrDefault: withWord("default"),
  list: withCommas,
  listOrNone: withCommas,
  numbers: withCommas,
  secretFile: (words) => `a file with ${words}; - reads it from standard input`,
  objectFile: (words) => `a JSON file with ${words.replace("an object with ", "")}; - reads it from standard input`,
};

function bareKind(schema: TSchema): Kind {
  return schema["type"] === "boolean" ? "yes" : "present";
}

/** The help does not repeat longer lists of words, since the field's description has them. */
const choicesLengthMax = 60;

function takesOf(field: string, schema: TSchema, { none }: FlagWords): Kind | string[] {
  const { anyOf } = schema;
  const all: TSchema[] = Array.isArray(anyOf) ? anyOf : [schema];
  const others = all.filter(({ type }) => type !== "null");
  const isNullable = others.length < all.length;
  const choices = others.flatMap((one) => (typeof one["const"] === "string" ? [one["const"]] : []));
  if (choices.length === others.length) return choices.join("|").length > choicesLengthMax ? "text" : choices;
  const [only = schema] = others;
  if (schema["writeOnly"] === true) return only["type"] === "string" ? "secretFile" : "objectFile";
  switch (only["type"]) {
    case "boolean":
      return "onOff";
    case "integer":
      return isNullable ? (none === "default" ? "numberOrDefault" : "numberOrNone") : "number";
    case "array":
      return listKind(only);
    default:
      return isNullable ? nullableTextKind(field) : textKind(field, only);
  }
}

function listKind({ items, minItems = 0 }: TSchema): Kind {
  if (Object(items).type === "integer") return "numbers";
  return minItems === 0 ? "listOrNone" : "list";
}

function nullableTextKind(field: string): Kind {
  return field.endsWith("_usd") ? "usdOrNone" : "textOrNone";
}

function textKind(field: string, { pattern = "", description = "" }: TSchema): Kind {
  if (field === "usd") return "usdAboveZero";
  if (field.endsWith("_usd")) return "usd";
  if (/^\^[(\d|]*\[1-9\]/.test(pattern)) return "rows";
  if (description === "an e-mail address" || description.startsWith("the email of")) return "email";
  if (/^the id of an? [^,]*$/.test(description)) return "id";
  return description.startsWith("a time such as") ? "time" : "text";
}

if (import.meta.main) {
  writeFileSync(rowsFile, verbLines());
  // The command line's module reads that file when it is loaded.
  const { verbs } = await import("./weir/verbs.ts");
  for (const file of controlPages) writeFileSync(file, withLists(readFileSync(file, "utf8"), verbs));
}
