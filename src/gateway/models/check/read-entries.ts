/** Reads the entries of one catalog file, and the problems of those that do not match the schema. */
import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler, type ValueError } from "@sinclair/typebox/compiler";
import { ValueErrorType } from "@sinclair/typebox/errors";
import type { CatalogFile } from "../catalog-files.ts";
import type { ModelProblem } from "./problem.ts";

/** A file of another kind would otherwise have a problem for each of its fields. */
const problemsOfAnEntryMax = 5;
const shownCharactersMax = 200;

export interface Entries<Entry> {
  /** Those that match the schema. */
  entries: Entry[];
  problems: ModelProblem[];
}

export type ReadEntries<Schema extends TSchema> = (file: CatalogFile) => Entries<Static<Schema>>;

/** @param schema of one entry; a file has a list of them */
export function entriesReader<Schema extends TSchema>(schema: Schema): ReadEntries<Schema> {
  const check = TypeCompiler.Compile(schema);
  // The compiled check guarantees the type. It narrows to the decoded type, which is the same here because nothing transforms.
  const matches = (value: unknown): value is Static<Schema> => check.Check(value);
  return (file) => {
    const read: Entries<Static<Schema>> = { entries: [], problems: [] };
    const values = parsedList(file);
    if ("message" in values) return { entries: [], problems: [values] };
    for (const [index, value] of values.list.entries()) {
      if (matches(value)) read.entries.push(value);
      else read.problems.push(...problemsOf(file.name, nameOf(value, index), check.Errors(value)));
    }
    return read;
  };
}

function parsedList({ name, text }: CatalogFile): { list: unknown[] } | ModelProblem {
  const problem = (message: string): ModelProblem => ({ file: name, id: "", field: "", message });
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? { list: value } : problem("is not a list of entries");
  } catch (error) {
    return problem(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function nameOf(value: unknown, index: number): string {
  if (typeof value === "object" && value !== null && "id" in value && typeof value.id === "string" && value.id !== "") {
    return value.id.slice(0, 200);
  }
  return `entry ${index}`;
}

function problemsOf(file: string, id: string, errors: Iterable<ValueError>): ModelProblem[] {
  const byField = new Map<string, ModelProblem>();
  for (const error of errors) {
    const field = error.path.split("/").slice(1).join(".");
    if (!byField.has(field)) byField.set(field, { file, id, field, message: messageOf(error) });
    if (byField.size === problemsOfAnEntryMax) break;
  }
  return [...byField.values()];
}

/** In the words of the check of connectors: what is there, and what to write. */
function messageOf({ type, value, schema, message }: ValueError): string {
  if (type === ValueErrorType.ObjectAdditionalProperties) return "remove it: no such field is known";
  const choices = choicesOf(schema);
  const needed = choices.length > 0 ? `write one of ${choices.join(", ")}` : message.replace(/^E/, "e");
  if (value === undefined) return choices.length > 0 ? `is missing: ${needed}` : "is missing";
  return `is ${JSON.stringify(value).slice(0, shownCharactersMax)}: ${needed}`;
}

/** @returns empty unless the schema is a list of words */
function choicesOf({ anyOf }: TSchema): string[] {
  const words: unknown[] = Array.isArray(anyOf) ? anyOf.map((one: TSchema) => one["const"]) : [];
  return words.every((word) => typeof word === "string") ? words : [];
}
