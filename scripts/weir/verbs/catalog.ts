/**
 * The verbs of `weir catalog` for the files in CATALOG_DIR: checking, exporting and formatting them, and the search of the catalog's page
 * and API.
 *
 * They need no service, and check the files with the same code as a start of the service.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exportCatalog, exportFormats } from "../../../src/connectors/catalog/exports.ts";
import { methodNames } from "../../../src/connectors/catalog/files/columns.ts";
import { formatConnectors } from "../../../src/connectors/catalog/files/format.ts";
import { judgeConnectors, judgeSearchWords, type Judgement } from "../../../src/connectors/catalog/files/judge.ts";
import { readConnectorFiles, formatProblem, type Problem } from "../../../src/connectors/catalog/files/read-file.ts";
import { tallyOf, type Tally } from "../../../src/connectors/catalog/files/tally.ts";
import { knowledgeOf, searchTermsOf } from "../../../src/connectors/catalog/search-terms.ts";
import { search } from "../../../src/connectors/catalog/search.ts";
import { catalogWords } from "../../../src/gateway/api/request/requested-model.ts";
import { judgeModels, formatModelProblem } from "../../../src/gateway/models/catalog-check.ts";
import { modelTallyOf, type ModelTally } from "../../../src/gateway/models/catalog-tally.ts";
import { readCatalogFiles } from "../../../src/gateway/models/catalog.ts";
import { CallError } from "../call.ts";
import { columns } from "../print.ts";
import type { Files, LocalAnswer } from "../verb.ts";

const rowsDefault = 20;

/** The best match first. */
export async function searchCatalog(fields: Record<string, unknown>, { catalogDir }: Files): Promise<LocalAnswer> {
  const files = await readingCatalog(() => readConnectorFiles(catalogDir));
  const { catalog } = judgeConnectors(files);
  const { words } = judgeSearchWords(files.searchWords, catalog);
  const q = String(fields["q"] ?? "");
  const { connectors, didYouMean } = search(q, searchTermsOf(catalog.connectors, knowledgeOf(catalog, words)));
  const rows = connectors.slice(0, Number(fields["limit"] ?? rowsDefault)).map(({ slug, name, category, methods }) => ({
    slug,
    name,
    category,
    connect_with: methods.map((method) => methodNames[method]).join(", "),
  }));
  const cells = rows.map(({ slug, name, category, connect_with }) => [slug, name, category, connect_with]);
  const corrected = didYouMean === null ? [] : [`Did you mean "${didYouMean}"? Nothing is called "${q}".`];
  const rest = connectors.length > rows.length ? [`${rows.length} of ${connectors.length}: --limit shows more`] : [];
  const table =
    rows.length === 0 ? `No connector is found for "${q}"` : columns([["SLUG", "NAME", "CATEGORY", "CONNECT WITH"], ...cells]);
  return {
    body: { connectors: rows, total: connectors.length, did_you_mean: didYouMean },
    text: [...corrected, table, ...rest].join("\n"),
    errors: [],
  };
}

/** Writes the connectors' files and search-words.json in the format that `catalog check` requires. */
export async function formatCatalog({ catalogDir }: Files): Promise<LocalAnswer> {
  const { changed, problems } = formatConnectors(await readingCatalog(() => readConnectorFiles(catalogDir)));
  for (const { name, text } of changed) await writeFile(join(catalogDir, name), text);
  const names = changed.map(({ name }) => name);
  return {
    body: { ok: problems.length === 0, changed: names, problems },
    text: names.length === 0 ? "Nothing to change" : names.join("\n"),
    errors: problems.map(formatProblem),
  };
}

export async function checkCatalog(files: Files): Promise<LocalAnswer> {
  const connectors = await judge(files);
  const models = await readingCatalog(async () => judgeModels(await readCatalogFiles(files.catalogDir), catalogWords));
  const tally = tallyOf(connectors.catalog);
  const modelTally = modelTallyOf(models);
  const problems = [...models.problems, ...connectors.problems, ...connectors.searchProblems];
  return {
    body: { ok: problems.length === 0, ...tally, model_catalog: modelTally, problems },
    // With the counts, the problems to fix would scroll off a terminal.
    text: problems.length > 0 ? `Problems: ${problems.length}` : [modelTallyText(modelTally), tallyText(tally)].join("\n\n"),
    errors: [
      ...models.problems.map(formatModelProblem),
      ...[...connectors.problems, ...connectors.searchProblems].map(formatProblem),
    ],
  };
}

export async function printCatalog(fields: Record<string, unknown>, files: Files): Promise<LocalAnswer> {
  const format = exportFormats.find((known) => known === fields["format"]) ?? "json";
  const { catalog, problems } = await judge(files);
  const [first] = problems;
  if (first) throw new CallError(`${formatProblem(first)} (${problems.length} in all: weir catalog check lists them)`);
  return { body: JSON.parse(exportCatalog(catalog, "json")), text: exportCatalog(catalog, format).trimEnd(), errors: [] };
}

function judge({ catalogDir }: Files): Promise<Judgement & { searchProblems: Problem[] }> {
  return readingCatalog(async () => {
    const files = await readConnectorFiles(catalogDir);
    const judgement = judgeConnectors(files);
    return { ...judgement, searchProblems: judgeSearchWords(files.searchWords, judgement.catalog).problems };
  });
}

function modelTallyText({ models, providers, prices, sources }: ModelTally): string {
  return [
    columns([
      ["MODELS", "NUMBER"],
      ["chat", String(models.chat)],
      ["embeddings", String(models.embeddings)],
      ["callable with a key and a launch check", String(models.callable)],
      ["served by several providers", String(models.several_routes)],
      ["with price tiers", String(models.tiers)],
      ["all", String(models.total)],
    ]),
    columns([
      ["PROVIDERS", "NUMBER"],
      ["serving a model", String(providers.serving)],
      ["all", String(providers.total)],
    ]),
    columns([
      ["PRICES OF ROUTES", "NUMBER"],
      ["with a second source", String(prices.checked)],
      ["with a note why they stand", String(prices.noted)],
      ["with one source", String(prices.one_source)],
      ["without a source", String(prices.no_source)],
    ]),
    columns([["SOURCES OF PRICES", "NUMBER"], ...sources.map(({ place, sources: number }) => [place, String(number)])]),
  ].join("\n\n");
}

function tallyText({ total, categories, evidence, sources, checked, probes }: Tally): string {
  const counts = [...categories, { category: "all", ...total }].map((row) =>
    [row.category, row.connectors, row.specific, row.grants, row.docs, row.mcp].map(String),
  );
  return [
    columns([["CATEGORY", "CONNECTORS", "SPECIFIC FORMS", "GRANTS", "DOCS", "MCP"], ...counts]),
    columns([["CLAIM WITH ITS SOURCE", "CONNECTORS"], ...evidence.map(({ claim, connectors }) => [claim, String(connectors)])]),
    columns([["SOURCES FROM", "NUMBER"], ...sources.map(({ place, sources }) => [place, String(sources)])]),
    columns([
      [`SPECIFIC FORMS CHECKED SINCE ${checked.since}`, "CONNECTORS"],
      ["on the vendor's own pages", String(checked.vendor)],
      ["a claim only with two other witnesses", String(checked.witnesses)],
      ["not yet", String(checked.unchecked)],
    ]),
    columns([
      ["TESTS OF CREDENTIALS", "CONNECTORS"],
      ["declared in the catalog", String(probes)],
    ]),
  ].join("\n\n");
}

/** @throws CallError when the folder cannot be read */
export async function readingCatalog<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw new CallError(`Cannot read the catalog: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
