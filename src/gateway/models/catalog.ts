/**
 * Reads a catalog folder into a Catalog, with the sandbox's models if it is on. One invalid entry makes the whole folder invalid, since a
 * partial catalog would answer 404 for models that exist. The message names the file, the entry and the field.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler, type TypeCheck } from "@sinclair/typebox/compiler";
import { modelFrom, providerFrom, EntryError } from "./catalog-entry.ts";
import type { Catalog, Model, ProviderRecord } from "./model.ts";
import { ModelsFile, ProvidersFile, type ModelEntry, type ProviderEntry } from "./schema.ts";

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

// Compiled, because hundreds of entries are checked on the event loop that serves streams.
const providersCheck = TypeCompiler.Compile(ProvidersFile);
const modelsCheck = TypeCompiler.Compile(ModelsFile);

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

function parseFile<Schema extends TSchema>(file: CatalogFile, check: TypeCheck<Schema>): Static<Schema> {
  const value = parseJson(file);
  if (isOf(check, value)) return value;
  const error = check.Errors(value).First();
  const [index = "", ...field] = (error?.path ?? "").split("/").slice(1);
  throw catalogError(file.name, idOf(value, index), field.join("."), error?.message ?? "is invalid");
}

function parseJson(file: CatalogFile): unknown {
  try {
    return JSON.parse(file.text);
  } catch (error) {
    throw new CatalogError(`Cannot read catalog file ${file.name}: it is not valid JSON`, { cause: error });
  }
}

/** The message names the file and, if one entry is at fault, its id and field. */
class CatalogError extends Error {
  override name = "CatalogError";
}

/** The compiled check guarantees the type. It narrows to the decoded type, which is the same here because nothing transforms. */
function isOf<Schema extends TSchema>(check: TypeCheck<Schema>, value: unknown): value is Static<Schema> {
  return check.Check(value);
}

function catalogError(file: string, id: string, field: string, message: string): CatalogError {
  const place = [file, id, field].filter((part) => part !== "").join(": ");
  return new CatalogError(`Cannot read catalog file ${place}: ${message}`);
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

// Files, before validation

export interface CatalogFile {
  /** Relative to the folder, such as `models/openai.json`. */
  name: string;
  text: string;
}

export interface CatalogFiles {
  providers: CatalogFile;
  /** Sorted by name. */
  models: CatalogFile[];
  /** SHA-256 over names and contents, in hexadecimal. */
  digest: string;
}

/** @throws Error of the file system when providers.json or the folder `models` cannot be read */
export async function readCatalogFiles(folder: string): Promise<CatalogFiles> {
  const names = (await readdir(join(folder, "models"))).filter((name) => name.endsWith(".json")).toSorted();
  const providers = await readOne(folder, "providers.json");
  const models = await Promise.all(names.map((name) => readOne(folder, `models/${name}`)));
  const hash = createHash("sha256");
  for (const file of [providers, ...models]) hash.update(`${file.name}\0${file.text}\0`);
  return { providers, models, digest: hash.digest("hex") };
}

async function readOne(folder: string, name: string): Promise<CatalogFile> {
  return { name, text: await readFile(join(folder, name), "utf8") };
}

// `sandbox/echo` and `sandbox/embed`: the models of the in-process provider, as entries of the catalog files

export const sandboxProvider: ProviderEntry = {
  id: "sandbox",
  name: "Sandbox",
  format: "sandbox",
  base_url: "http://sandbox.invalid",
  key_env: null,
  cancel_stops_billing: true,
  zero_data_retention: true,
  terms_checked: true,
  subprocessor_listed: true,
};

const echo: ModelEntry = {
  id: "sandbox/echo",
  name: "Sandbox echo",
  kind: "chat",
  upstream_model: "echo",
  context_length: 128_000,
  max_output_tokens: 4_096,
  prices_per_1m_usd: { input: "1.00", output: "2.00" },
  listed_as: "available",
  published: true,
  // An echo can honour these fields: it does not sample or reason.
  supports: ["tools", "json_object", "json_schema", "reasoning", "verbosity", "penalties", "seed", "logit_bias", "prediction"],
  reasons: false,
  released: "2026-11-20",
};

/** Its vectors are made from a hash of the text. */
const embed: ModelEntry = {
  id: "sandbox/embed",
  name: "Sandbox embed",
  kind: "embeddings",
  upstream_model: "embed",
  context_length: 8_192,
  max_output_tokens: null,
  prices_per_1m_usd: { input: "1.00", output: "0" },
  listed_as: "available",
  published: true,
  supports: ["token_input", "input_type"],
  dimensions: { default: 64, allowed: { min: 8, max: 64 } },
  max_inputs: 2_048,
  released: "2026-11-24",
};

export const sandboxModels: readonly ModelEntry[] = [echo, embed];
