/** Reads a catalog folder into a Catalog. One invalid entry makes the whole folder invalid. */
import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler, type TypeCheck } from "@sinclair/typebox/compiler";
import { modelFrom, providerFrom } from "./catalog-entry.ts";
import { readCatalogFiles, type CatalogFile, type CatalogFiles } from "./catalog-files.ts";
import { EntryError } from "./entry-error.ts";
import type { Catalog, Model, ProviderRecord } from "./model.ts";
import { sandboxModels, sandboxProvider } from "./sandbox.ts";
import { ModelsFile, ProvidersFile } from "./schema.ts";

// Compiled, because hundreds of entries are checked on the event loop that serves streams.
const providersCheck = TypeCompiler.Compile(ProvidersFile);
const modelsCheck = TypeCompiler.Compile(ModelsFile);

/** The message names the file and, if one entry is at fault, its id and field. */
export class CatalogError extends Error {
  override name = "CatalogError";
}

export interface CatalogOptions {
  /** Adds the sandbox provider. If off, models that it would serve are left out. */
  sandbox: boolean;
}

/** @throws CatalogError when the files are invalid; Error of the file system when they cannot be read */
export async function readCatalog(folder: string, options: CatalogOptions): Promise<Catalog> {
  return parseCatalog(await readCatalogFiles(folder), options);
}

/** @throws CatalogError */
export function parseCatalog(files: CatalogFiles, options: CatalogOptions): Catalog {
  const providers = readProviders(files.providers);
  if (options.sandbox && !providers.has(sandboxProvider.id)) providers.set(sandboxProvider.id, providerFrom(sandboxProvider));
  const models = readModels(files.models, providers);
  for (const entry of options.sandbox ? sandboxModels : []) {
    if (!models.has(entry.id)) models.set(entry.id, modelFrom(entry, { fileProvider: sandboxProvider.id, providers }));
  }
  if (!options.sandbox) removeSandboxModels(models);
  return { version: `${files.digest}${options.sandbox ? "+sandbox" : ""}`, models, providers };
}

function readProviders(file: CatalogFile): Map<string, ProviderRecord> {
  const providers = new Map<string, ProviderRecord>();
  for (const entry of parseFile(file, providersCheck)) {
    if (providers.has(entry.id)) throw catalogError(file.name, entry.id, "id", "occurs twice in this file");
    providers.set(
      entry.id,
      withEntryPath(file.name, entry.id, () => providerFrom(entry)),
    );
  }
  return providers;
}

function readModels(files: CatalogFile[], providers: ReadonlyMap<string, ProviderRecord>): Map<string, Model> {
  const models = new Map<string, Model>();
  const origins = new Map<string, string>();
  for (const file of files) {
    const fileProvider = file.name.replace(/^models\/|\.json$/g, "");
    for (const entry of parseFile(file, modelsCheck)) {
      const origin = origins.get(entry.id);
      if (origin !== undefined) throw catalogError(file.name, entry.id, "id", `is already taken in ${origin}`);
      origins.set(entry.id, file.name);
      models.set(
        entry.id,
        withEntryPath(file.name, entry.id, () => modelFrom(entry, { fileProvider, providers })),
      );
    }
  }
  return models;
}

function removeSandboxModels(models: Map<string, Model>): void {
  for (const model of models.values()) {
    if (model.routes.some((route) => route.provider.format === "sandbox")) models.delete(model.id);
  }
}

function parseFile<Schema extends TSchema>(file: CatalogFile, check: TypeCheck<Schema>): Static<Schema> {
  const value = parseJson(file);
  if (isOf(check, value)) return value;
  const error = check.Errors(value).First();
  const [index = "", ...field] = (error?.path ?? "").split("/").slice(1);
  throw catalogError(file.name, idOf(value, index), field.join("."), error?.message ?? "is invalid");
}

/** The compiled check guarantees the type. It narrows to the decoded type, which is the same here because nothing transforms. */
function isOf<Schema extends TSchema>(check: TypeCheck<Schema>, value: unknown): value is Static<Schema> {
  return check.Check(value);
}

function parseJson(file: CatalogFile): unknown {
  try {
    return JSON.parse(file.text);
  } catch (error) {
    throw new CatalogError(`Cannot read catalog file ${file.name}: it is not valid JSON`, { cause: error });
  }
}

/** The id of the entry at this index, or else the index. */
function idOf(value: unknown, index: string): string {
  const entry: unknown = Array.isArray(value) ? value[Number(index)] : null;
  if (typeof entry === "object" && entry !== null && "id" in entry && typeof entry.id === "string") return entry.id;
  return index === "" ? "" : `entry ${index}`;
}

function withEntryPath<Result>(file: string, id: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof EntryError) throw catalogError(file, id, error.field, error.message);
    throw error;
  }
}

function catalogError(file: string, id: string, field: string, message: string): CatalogError {
  const place = [file, id, field].filter((part) => part !== "").join(": ");
  return new CatalogError(`Cannot read catalog file ${place}: ${message}`);
}
