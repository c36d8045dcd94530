import { judgeConnectors, type Judgement, judgeSearchWords } from "../../../../src/connectors/catalog/files/judge.ts";
import { readConnectorFiles, formatProblem, type Problem } from "../../../../src/connectors/catalog/files/read-file.ts";
import { exportCatalog, exportFormats } from "../../../../src/connectors/catalog/exports.ts";
import { tallyOf, type Tally } from "../../../../src/connectors/catalog/files/tally.ts";
import { catalogWords } from "../../../../src/gateway/api/request/requested-model.ts";
import { readCatalogFiles } from "../../../../src/gateway/models/catalog.ts";
import { judgeModels, formatModelProblem } from "../../../../src/gateway/models/catalog-check.ts";
import { modelTallyOf, type ModelTally } from "../../../../src/gateway/models/catalog-tally.ts";
import { CallError } from "../../call.ts";
import { columns } from "../../print.ts";
import { catalogFormatVerb } from "./catalog-format.ts";
import { catalogSearchVerb } from "./catalog-search.ts";
import { readingCatalog } from "./reading-catalog.ts";
import { oneOf } from "../../value.ts";
import type { Files, LocalAnswer, Verb } from "../../verb.ts";

export const catalogVerbs: readonly Verb[] = [
  {
    noun: "catalog",
    verb: "check",
    summary: "Check the files of models, providers and connectors in CATALOG_DIR and count them; exit code 1 when one is invalid",
    flags: [],
    local: check,
  },
  {
    noun: "catalog",
    verb: "export",
    summary: "Print all connectors of CATALOG_DIR as one document",
    flags: [{ name: "format", field: "format", value: oneOf(...exportFormats), help: "default json; always json with --json" }],
    local: print,
  },
  catalogSearchVerb,
  catalogFormatVerb,
];

async function check(_fields: Record<string, unknown>, files: Files): Promise<LocalAnswer> {
  const connectors = await judge(files);
  const models = await readingCatalog(async () => judgeModels(await readCatalogFiles(files.catalogDir), catalogWords));
  const tally = tallyOf(connectors.catalog);
  const modelTally = modelTallyOf(models);
  const problems = [...models.problems, ...connectors.problems, ...connectors.searchProblems];
  return {
    body: { ok: problems.length === 0, ...tally, model_catalog: modelTally, problems },
    // The counts would push what has to be fixed off a terminal.
    text: problems.length > 0 ? `Problems: ${problems.length}` : [modelTallyText(modelTally), tallyText(tally)].join("\n\n"),
    errors: [
      ...models.problems.map(formatModelProblem),
      ...[...connectors.problems, ...connectors.searchProblems].map(formatProblem),
    ],
  };
}

async function print(fields: Record<string, unknown>, files: Files): Promise<LocalAnswer> {
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

function tallyText({ total, categories, evidence, sources }: Tally): string {
  const counts = [...categories, { category: "all", ...total }].map((row) =>
    [row.category, row.connectors, row.specific, row.grants, row.docs, row.mcp].map(String),
  );
  return [
    columns([["CATEGORY", "CONNECTORS", "SPECIFIC FORMS", "GRANTS", "DOCS", "MCP"], ...counts]),
    columns([["CLAIM WITH ITS SOURCE", "CONNECTORS"], ...evidence.map(({ claim, connectors }) => [claim, String(connectors)])]),
    columns([["SOURCES FROM", "NUMBER"], ...sources.map(({ place, sources }) => [place, String(sources)])]),
  ].join("\n\n");
}
