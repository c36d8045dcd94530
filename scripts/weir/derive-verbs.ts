/**
 * Derives the verbs of the command line from the endpoints of the control API: nouns and verbs, calls, flags, and the words of the help.
 *
 * A flag is a field: its name with dashes, what it takes from the kind of its schema, and its help from the schema's title, else from its
 * description. What a schema does not say, such as a short name, is in the endpoint's `command`. To import the endpoints loads the
 * whole server, which takes longer than most commands, so the command line does not: `scripts/control-tables.ts` writes the rows
 * to `verbs.jsonl`, and a test compares that file with the endpoints.
 */
import type { TSchema } from "@sinclair/typebox";
import type { Command, Endpoint, FlagWords } from "../../src/control-api/endpoint.ts";
import { endpoints } from "../../src/control-api/endpoints.ts";
import { idWords } from "../../src/openapi/control-operations.ts";
import type { Kind } from "./value.ts";
import type { FlagRow, VerbRow } from "./verb.ts";

/** A verb for each endpoint that names one, in their order. */
export function derivedVerbs(): VerbRow[] {
  return endpoints.flatMap((endpoint) => {
    const { command } = endpoint;
    return command === null || command.isStep === true ? [] : [rowOf(endpoint, command)];
  });
}

function rowOf({ method, path, summary, fields, progress }: Endpoint, { name, flags = {}, confirm, example }: Command): VerbRow {
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

/** A title begins a sentence, and a description completes "… is needed". Both speak of JSON, where people type words and files. */
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

/** Longer lists of words are not repeated in the help: the field's description has them. */
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
