import { judgeConnectors, type Judgement } from "../../../src/connectors/catalog/files/judge.ts";
import { readConnectorFiles } from "../../../src/connectors/catalog/files/catalog-folder.ts";
import { exportCatalog, exportFormats } from "../../../src/connectors/catalog/exports.ts";
import { formatProblem } from "../../../src/connectors/catalog/files/problem.ts";
import { tallyOf, type Tally } from "../../../src/connectors/catalog/files/tally.ts";
import { CallError } from "../call.ts";
import { columns } from "../print.ts";
import { oneOf } from "../value.ts";
import type { Files, LocalAnswer, Verb } from "../verb.ts";

export const catalogVerbs: readonly Verb[] = [
  {
    noun: "catalog",
    verb: "check",
    summary: "Check the connector files in CATALOG_DIR and count them; exit code 1 when one is invalid",
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
];

async function check(_fields: Record<string, unknown>, files: Files): Promise<LocalAnswer> {
  const { catalog, problems } = await judge(files);
  const tally = tallyOf(catalog);
  return {
    body: { ok: problems.length === 0, ...tally, problems },
    text: tallyText(tally),
    errors: problems.map(formatProblem),
  };
}

async function print(fields: Record<string, unknown>, files: Files): Promise<LocalAnswer> {
  const format = exportFormats.find((known) => known === fields["format"]) ?? "json";
  const { catalog, problems } = await judge(files);
  const [first] = problems;
  if (first) throw new CallError(`${formatProblem(first)} (${problems.length} in all: weir catalog check lists them)`);
  return { body: JSON.parse(exportCatalog(catalog, "json")), text: exportCatalog(catalog, format).trimEnd(), errors: [] };
}

async function judge({ catalogDir }: Files): Promise<Judgement> {
  try {
    return judgeConnectors(await readConnectorFiles(catalogDir));
  } catch (error) {
    throw new CallError(`Cannot read the catalog: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
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
