/** `weir catalog fmt`: writes the connectors' files and search-words.json as `catalog check` wants them. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readConnectorFiles, formatProblem } from "../../../../src/connectors/catalog/files/read-file.ts";
import { formatConnectors } from "../../../../src/connectors/catalog/files/format.ts";
import type { Files, LocalAnswer, Verb } from "../../verb.ts";
import { readingCatalog } from "./reading-catalog.ts";

export const catalogFormatVerb: Verb = {
  noun: "catalog",
  verb: "fmt",
  summary: "Write the files of connectors in CATALOG_DIR in the order and layout that catalog check asks for; facts stay",
  flags: [],
  local: format,
};

async function format(_fields: Record<string, unknown>, { catalogDir }: Files): Promise<LocalAnswer> {
  const { changed, problems } = formatConnectors(await readingCatalog(() => readConnectorFiles(catalogDir)));
  for (const { name, text } of changed) await writeFile(join(catalogDir, name), text);
  const names = changed.map(({ name }) => name);
  return {
    body: { ok: problems.length === 0, changed: names, problems },
    text: names.length === 0 ? "Nothing to change" : names.join("\n"),
    errors: problems.map(formatProblem),
  };
}
