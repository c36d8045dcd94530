/** All problems of providers.json and the files of models. The service reads the same files and stops at the first (catalog.ts). */
import { modelFrom, providerFrom } from "../catalog-entry.ts";
import { EntryError } from "../entry-error.ts";
import type { CatalogFiles } from "../catalog-files.ts";
import type { Model, ProviderRecord } from "../model.ts";
import { ModelEntry, ProviderEntry } from "../schema.ts";
import { aliasesAtOdds } from "./aliases.ts";
import type { JudgedModel } from "./judged-model.ts";
import { entriesReader, type Entries } from "./read-entries.ts";
import type { ModelProblem } from "./problem.ts";

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

/** What the service accepts and a user would be hurt by. */
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
