/** `weir catalog search`: the search of the catalog's page and API, on the files of CATALOG_DIR. */
import { methodNames } from "../../../../src/connectors/catalog/files/columns.ts";
import { readConnectorFiles } from "../../../../src/connectors/catalog/files/read-file.ts";
import { judgeConnectors, judgeSearchWords } from "../../../../src/connectors/catalog/files/judge.ts";
import { knowledgeOf, searchTermsOf } from "../../../../src/connectors/catalog/search-terms.ts";
import { search } from "../../../../src/connectors/catalog/search.ts";
import { columns } from "../../print.ts";
import type { Files, LocalAnswer, Verb } from "../../verb.ts";
import { number } from "../../value.ts";
import { readingCatalog } from "./reading-catalog.ts";

const rowsDefault = 20;

export const catalogSearchVerb: Verb = {
  noun: "catalog",
  verb: "search",
  summary: "Find connectors of CATALOG_DIR by name, former name, abbreviation, vendor or category, the best match first",
  operand: { field: "q", placeholder: "WORDS", help: "such as aws or 'azure ad'" },
  flags: [{ name: "limit", field: "limit", value: number, help: `how many to show; default ${rowsDefault}` }],
  local: find,
};

async function find(fields: Record<string, unknown>, { catalogDir }: Files): Promise<LocalAnswer> {
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
