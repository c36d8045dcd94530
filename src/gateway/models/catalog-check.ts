/**
 * All problems of providers.json and the files of models, for `weir catalog check`. The service reads the same files and stops at the first
 * problem (catalog.ts); this check continues, and adds what the service would accept but would hurt a user, such as two names of one model
 * with different facts.
 */
import { isDeepStrictEqual } from "node:util";
import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler, type ValueError } from "@sinclair/typebox/compiler";
import { ValueErrorType } from "@sinclair/typebox/errors";
import { modelFrom, providerFrom, EntryError } from "./catalog-entry.ts";
import type { CatalogFiles, CatalogFile } from "./catalog.ts";
import type { Model, ProviderRecord } from "./model.ts";
import { ModelEntry, ProviderEntry } from "./schema.ts";

const readProviders = entriesReader(ProviderEntry);
const readModels = entriesReader(ModelEntry);

export interface ModelJudgement {
  providers: ProviderEntry[];
  models: JudgedModel[];
  problems: ModelProblem[];
}

/** @param supportWords the words that open a request field; others open nothing */
export function judgeModels(files: CatalogFiles, supportWords: ReadonlySet<string>): ModelJudgement {
  const { providers, entries, problems } = judgeProviders(files);
  const judged: JudgedModel[] = [];
  const places = new Map<string, string>();
  for (const file of files.models) {
    const fileProvider = file.name.replace(/^models\/|\.json$/g, "");
    const read = readModels(file);
    problems.push(...read.problems);
    for (const entry of read.entries) {
      const problem = problemOf(file.name, entry.id);
      const taken = places.get(entry.id);
      if (taken !== undefined) problems.push(problem("id", `is already taken in ${taken}`));
      places.set(entry.id, file.name);
      const model = readOr(problems, problem, () => modelFrom(entry, { fileProvider, providers }));
      if (model === null) continue;
      judged.push({ file: file.name, entry, model });
      problems.push(...factsAtFault(model, supportWords).map(([field, message]) => problem(field, message)));
    }
  }
  problems.push(...routesTwice(judged), ...aliasesAtOdds(judged));
  return { providers: entries, models: judged, problems };
}

function judgeProviders({ providers: file }: CatalogFiles): Entries<ProviderEntry> & { providers: Map<string, ProviderRecord> } {
  const { entries, problems } = readProviders(file);
  const providers = new Map<string, ProviderRecord>();
  for (const entry of entries) {
    const problem = problemOf(file.name, entry.id);
    if (providers.has(entry.id)) problems.push(problem("id", "occurs twice in this file"));
    const provider = readOr(problems, problem, () => providerFrom(entry));
    if (provider !== null) providers.set(entry.id, provider);
  }
  return { providers, entries, problems };
}

type ProblemOf = (field: string, message: string) => ModelProblem;

function problemOf(file: string, id: string): ProblemOf {
  return (field, message) => ({ file, id, field, message });
}

/** @returns null: the entry is invalid, and the problem is noted */
function readOr<Result>(problems: ModelProblem[], problem: ProblemOf, read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof EntryError)) throw error;
    problems.push(problem(error.field, error.message));
    return null;
  }
}

/** Mistakes that the service accepts but that hurt a user. */
function factsAtFault(model: Model, supportWords: ReadonlySet<string>): [field: string, message: string][] {
  const unknown = [...model.supports].filter((word) => !supportWords.has(word));
  const faults: [string, string][] = unknown.map((word) => ["supports", `"${word}" opens no field of a request`]);
  if (model.contextLength > 0 && model.maxOutputTokens > model.contextLength) {
    faults.push(["max_output_tokens", `is above the context of ${model.contextLength} tokens`]);
  }
  return faults;
}

function routesTwice(judged: readonly JudgedModel[]): ModelProblem[] {
  const first = new Map<string, string>();
  return judged.flatMap(({ file, model }) =>
    model.routes.flatMap(({ provider, upstreamModel }) => {
      const route = `${provider.id} ${upstreamModel}`;
      const other = first.get(route);
      if (other === undefined) first.set(route, model.id);
      const message = `${provider.id} serves "${upstreamModel}" as ${other} already`;
      return other === undefined ? [] : [problemOf(file, model.id)("upstream_model", message)];
    }),
  );
}

// Entries of one file

/** A file of another kind would otherwise have a problem for each of its fields. */
const problemsOfAnEntryMax = 5;
const shownCharactersMax = 200;

interface Entries<Entry> {
  /** The entries that match the schema. */
  entries: Entry[];
  problems: ModelProblem[];
}

type ReadEntries<Schema extends TSchema> = (file: CatalogFile) => Entries<Static<Schema>>;

/** @param schema of one entry; a file has a list of them */
function entriesReader<Schema extends TSchema>(schema: Schema): ReadEntries<Schema> {
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

/** Messages in the style of the connectors' check: what the file has, and what to write. */
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

// Two names of one model must have the same facts: otherwise a client that changes the name would get another model

/** `-20251001` or `-2025-10-01`. A date without its year, such as `-0731`, mostly names another model. */
const dateInName = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** Another name of the same model, which the provider may not have. @returns null: the name is a separate model */
export function otherNameOf({ id, alias_of }: ModelEntry): string | null {
  if (alias_of !== undefined) return alias_of;
  return dateInName.test(id) ? id.replace(dateInName, "") : null;
}

/** A problem in providers.json or in a file of models that must be fixed. */
interface ModelProblem {
  /** Relative to the folder, such as `models/openai.json`. */
  file: string;
  /** The entry at fault, or `entry 3` where it has no id; empty for the file as a whole. */
  id: string;
  /** Such as `routes.1.tiers.0.input`; empty for the entry as a whole. */
  field: string;
  message: string;
}

export function formatModelProblem({ file, id, field, message }: ModelProblem): string {
  return [file, id, field, message].filter((part) => part !== "").join(": ");
}

/** An entry that the service can use. */
export interface JudgedModel {
  file: string;
  entry: ModelEntry;
  model: Model;
}

/** Fields that each name has separately. Tiers are compared together with the prices. */
const ownFields = new Set<string>([
  "id",
  "name",
  "upstream_model",
  "alias_of",
  "released",
  "listed_as",
  "published",
  "tiers",
  "source",
  "checked_with",
  "note",
  "seen",
] satisfies (keyof ModelEntry)[]);

/** Every field in which a model of one provider differs from the model that it is another name of. */
function aliasesAtOdds(judged: readonly JudgedModel[]): ModelProblem[] {
  const single = judged.filter(({ entry }) => entry.routes === undefined);
  const places = new Map(single.map((one) => [`${one.file} ${one.entry.id}`, one]));
  return judged.flatMap((one) => {
    const { file, entry } = one;
    const id = otherNameOf(entry);
    const other = id === null || entry.routes !== undefined ? undefined : places.get(`${file} ${id}`);
    if (other === undefined) {
      if (typeof entry.alias_of !== "string") return [];
      return [
        { file, id: entry.id, field: "alias_of", message: `no model of this provider alone is called "${entry.alias_of}"` },
      ];
    }
    const message = `differs from ${other.entry.id}, another name of the same model`;
    return fieldsAtOdds(one, other).map((field) => ({ file, id: entry.id, field, message }));
  });
}

function fieldsAtOdds(one: JudgedModel, other: JudgedModel): string[] {
  const [facts, others] = [factsOf(one), factsOf(other)];
  const fields = new Set([...facts.keys(), ...others.keys()]);
  return [...fields].filter((field) => !isDeepStrictEqual(facts.get(field), others.get(field)));
}

/** As the service reads them: an absent field is its default, and words have no order. */
function factsOf({ entry, model }: JudgedModel): Map<string, unknown> {
  const stated = Object.entries(entry).filter(([field]) => !ownFields.has(field));
  return new Map<string, unknown>([
    ...stated,
    ["prices_per_1m_usd", model.listPrices],
    ["supports", model.supports],
    ["reasons", model.reasons],
  ]);
}
