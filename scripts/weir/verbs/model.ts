/**
 * `weir model import`: compares CATALOG_DIR with an api.json of models.dev and, with --write, changes the files of models.
 *
 * It writes nothing that the catalog's check would refuse. Prices and bounds are copied; terms of providers stay as they are.
 */
import { readFile, stat } from "node:fs/promises";
import { catalogWords } from "../../../src/gateway/api/request/requested-model.ts";
import { judgeModels, type ModelJudgement, formatModelProblem } from "../../../src/gateway/models/catalog-check.ts";
import { readCatalogFiles, type CatalogFiles } from "../../../src/gateway/models/catalog.ts";
import {
  applyChanges,
  compareCatalog,
  type Change,
  type Comparison,
  type PricesListed,
  modelsText,
  writeModelFiles,
} from "../../../src/gateway/models/import.ts";
import { readModelsDev } from "../../../src/gateway/models/models-dev.ts";
import type { ModelEntry } from "../../../src/gateway/models/schema.ts";
import { CallError } from "../call.ts";
import { columns } from "../print.ts";
import { readingCatalog } from "./catalog.ts";
import type { Files, LocalAnswer } from "../verb.ts";

const fileBytesMax = 64 * 1024 * 1024;

const importKinds = ["added", "price_changed", "gone"] as const;

/** @throws CallError when a file cannot be read, the catalog has problems, or the import would make one; then nothing is written */
export async function importModels(fields: Record<string, unknown>, { catalogDir }: Files): Promise<LocalAnswer> {
  const { source, provider, changes: wanted, write } = fields;
  const listed = await readList(String(source));
  const files = await readingCatalog(() => readCatalogFiles(catalogDir));
  const catalog = checked(files, "The catalog has problems; weir catalog check lists them");
  const entries = entriesByFile(catalog);
  if (provider !== undefined && !catalog.providers.some(({ id }) => id === provider)) {
    throw new CallError(`There is no provider "${String(provider)}" in providers.json`);
  }
  const only = provider === undefined ? null : String(provider);
  const comparison = compareCatalog({ providers: catalog.providers, files: entries }, listed, only);
  const changes = comparison.changes.filter(({ kind }) => wanted === undefined || kind === wanted);
  if (write === true && changes.length > 0) await writeChanges(changes, { entries, files, catalogDir });
  return answerOf({ ...comparison, changes }, write === true);
}

async function readList(path: string): Promise<ReturnType<typeof readModelsDev>> {
  try {
    const { size } = await stat(path);
    if (size > fileBytesMax) throw new Error(`it has ${size} bytes; at most ${fileBytesMax} are read`);
    return readModelsDev(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    throw new CallError(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** @throws CallError with the first problem */
function checked(files: CatalogFiles, message: string): ModelJudgement {
  const judgement = judgeModels(files, catalogWords);
  const [first] = judgement.problems;
  if (first) throw new CallError(`${message}: ${formatModelProblem(first)}`);
  return judgement;
}

function entriesByFile({ models }: ModelJudgement): Map<string, ModelEntry[]> {
  const files = new Map<string, ModelEntry[]>();
  for (const { file, entry } of models) {
    const name = file.replace(/^models\/|\.json$/g, "");
    files.set(name, [...(files.get(name) ?? []), entry]);
  }
  return files;
}

interface Written {
  entries: ReadonlyMap<string, ModelEntry[]>;
  files: CatalogFiles;
  catalogDir: string;
}

async function writeChanges(changes: readonly Change[], { entries, files, catalogDir }: Written): Promise<void> {
  const changed = applyChanges(entries, changes, new Date().toISOString().slice(0, 10));
  const after = new Map([...entries, ...changed].filter(([, list]) => list.length > 0));
  const texts = [...after].map(([name, list]) => ({ name: `models/${name}.json`, text: modelsText(list) }));
  checked({ ...files, models: texts }, "Nothing is written, because the import would make a problem");
  await writeModelFiles(catalogDir, changed);
  checked(await readingCatalog(() => readCatalogFiles(catalogDir)), "The files are written and have a problem");
}

function answerOf(comparison: Comparison, written: boolean): LocalAnswer {
  const { changes, ...rest } = comparison;
  const counts = Object.fromEntries(importKinds.map((kind) => [kind, changes.filter((change) => change.kind === kind).length]));
  const rows = changes.map((change) => ({
    kind: change.kind,
    id: change.id,
    provider: change.provider,
    upstream_model: change.upstreamModel,
    file: `models/${change.file}.json`,
    change: changeText(change),
  }));
  const lines = [
    changes.length === 0
      ? "Nothing changes"
      : columns([["CHANGE", "ID", "PROVIDER", "WHAT"], ...rows.map((row) => [row.kind, row.id, row.provider, row.change])]),
    columns([
      ...Object.entries(counts).map(([kind, count]) => [kind, String(count)]),
      ["of unknown providers of the list", String(rest.unknown_providers)],
      ["with the id of another provider's model", String(rest.same_weights)],
      ["without a price or bounds in the list", String(rest.unusable)],
      ["providers that the list does not have", rest.not_listed.join(", ") || "-"],
    ]),
    written ? "Written" : "Nothing is written; --write does it",
  ];
  return { body: { ok: true, written, ...counts, ...rest, changes: rows }, text: lines.join("\n\n"), errors: [] };
}

function changeText(change: Change): string {
  switch (change.kind) {
    case "added":
      return pricesText({ prices: change.listed.prices, tiers: change.listed.tiers });
    case "price_changed":
      return `${pricesText(change.before)} -> ${pricesText(change.after)}`;
    case "gone":
      return change.why;
  }
}

/** Input and output, cache prices where known, and the tiers: `2.00/10.00, above 272000: 4.00/15.00`. */
function pricesText({ prices, tiers }: PricesListed): string {
  const one = ({ input, output, cache_read, cache_write }: PricesListed["prices"]): string =>
    [
      input,
      output,
      ...(cache_read === undefined ? [] : [`read ${cache_read}`]),
      ...(cache_write === undefined ? [] : [`write ${cache_write}`]),
    ].join("/");
  return [one(prices), ...tiers.map((tier) => `above ${tier.above_input_tokens}: ${one(tier)}`)].join(", ");
}
