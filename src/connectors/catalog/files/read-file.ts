/**
 * Reads the files of the connector catalog, and parses each into a value of its schema. A problem names the file, the field, and what to
 * write instead.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler, type TypeCheck, type ValueError } from "@sinclair/typebox/compiler";
import { ValueErrorType } from "@sinclair/typebox/errors";
import { errorCode } from "../../../kernel/error-code.ts";

interface Reader<Schema extends TSchema> {
  (file: CatalogFile): { value: Static<Schema> | null; problems: Problem[] };
}

export function readerOf<Schema extends TSchema>(schema: Schema): Reader<Schema> {
  const check = TypeCompiler.Compile(schema);
  return (file) => {
    const parsed = parse(file.text);
    if ("broken" in parsed) return { value: null, problems: [{ file: file.name, field: "", message: parsed.broken }] };
    const { value } = parsed;
    if (isOf(check, value)) return { value, problems: [] };
    const problems = [...check.Errors(value)].flatMap(innermost).map((error) => problemOf(file.name, error));
    return { value: null, problems: firstOfEach(problems) };
  };
}

/** A file before any check. */
export interface CatalogFile {
  /** Relative to the catalog's folder, such as `connectors/okta.json`. */
  name: string;
  text: string;
}

export interface ConnectorFiles {
  categories: CatalogFile;
  grantNotes: CatalogFile;
  oauthApps: CatalogFile;
  /** null: the folder has none, and connectors are found only by their names. */
  searchWords: CatalogFile | null;
  /** Sorted by name. */
  connectors: CatalogFile[];
}

/** @throws Error of the file system if a file cannot be read */
export async function readConnectorFiles(folder: string): Promise<ConnectorFiles> {
  const read = async (name: string): Promise<CatalogFile> => ({ name, text: await readFile(join(folder, name), "utf8") });
  const names = (await readdir(join(folder, "connectors"))).filter((name) => !name.startsWith(".")).toSorted();
  return {
    categories: await read("categories.json"),
    grantNotes: await read("grant-notes.json"),
    oauthApps: await read("oauth-apps.json"),
    searchWords: await read("search-words.json").catch(nullIfAbsent),
    connectors: await Promise.all(names.map((name) => read(`connectors/${name}`))),
  };
}

/** A problem in a catalog file that must be fixed. */
export interface Problem {
  file: string;
  /** Such as `credential_sets[0].fields[1].key`; empty for the file as a whole. */
  field: string;
  /** What is wrong, and what to write instead. */
  message: string;
}

export function formatProblem({ file, field, message }: Problem): string {
  return field === "" ? `${file}: ${message}` : `${file}: ${field}: ${message}`;
}

function parse(text: string): { value: unknown } | { broken: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { broken: `is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** The compiled check guarantees the type. It narrows to the decoded type, which is the same here because nothing is transformed. */
function isOf<Schema extends TSchema>(check: TypeCheck<Schema>, value: unknown): value is Static<Schema> {
  return check.Check(value);
}

/** Replaces the error "an object or null" with those within the object, because they name the field at fault. */
function innermost(error: ValueError): ValueError[] {
  if (error.type !== ValueErrorType.Union || typeof error.value !== "object" || error.value === null) return [error];
  const [ofObject] = error.errors;
  return ofObject ? [...ofObject].flatMap(innermost) : [error];
}

const neverThere = new Map([["default", "a form has no preset values"]]);

function problemOf(file: string, { type, path, value, schema }: ValueError): Problem {
  const field = path
    .replace(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replace(/^\./, "");
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    const why = neverThere.get(field.slice(field.lastIndexOf(".") + 1)) ?? "no such field is known";
    return { file, field, message: `remove it: ${why}` };
  }
  const needed = schema.description ?? "a value of its type";
  if (value === undefined) return { file, field, message: `is missing: write ${needed}` };
  return { file, field, message: `is ${JSON.stringify(value).slice(0, 200)}: write ${needed}` };
}

/** The compiler reports a missing field twice: as missing, and as having the wrong type. */
function firstOfEach(problems: Problem[]): Problem[] {
  return [...new Map(problems.toReversed().map((problem) => [problem.field, problem])).values()].toReversed();
}

function nullIfAbsent(error: unknown): null {
  if (errorCode(error) === "ENOENT") return null;
  throw error;
}
