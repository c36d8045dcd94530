/**
 * Checks the words of the search. A mistake there never refuses the catalog: `weir catalog check` reports it, and a service
 * searches without the words that it cannot use.
 */
import { canonicalSearchWords } from "./canonical.ts";
import type { CatalogFile } from "./catalog-folder.ts";
import type { ConnectorCatalog } from "./catalog.ts";
import type { Problem } from "./problem.ts";
import { readerOf } from "./read-file.ts";
import { differs } from "./rules.ts";
import { SearchWords } from "./schema.ts";

const read = readerOf(SearchWords);

export const noSearchWords: SearchWords = { connectors: [], categories: [], methods: [], popular: [] };

/** @param file null if the folder has none */
export function judgeSearchWords(
  file: CatalogFile | null,
  { connectors, categories }: ConnectorCatalog,
): { words: SearchWords; problems: Problem[] } {
  if (file === null) return { words: noSearchWords, problems: [] };
  const { value: words, problems } = read(file);
  if (!words) return { words: noSearchWords, problems };
  const ids = new Set(connectors.map(({ id }) => id));
  const found = [
    ...differs(file.text, canonicalSearchWords(words)).map((message) => ["", message]),
    ...words.connectors.flatMap(({ connector }, row) => unknown(`connectors[${row}].connector`, connector, ids)),
    ...words.popular.flatMap((id, row) => unknown(`popular[${row}]`, id, ids)),
    ...words.categories.flatMap(({ category }, row) =>
      categories.includes(category)
        ? []
        : [[`categories[${row}].category`, `"${category}" is not in categories.json: write one of its names`]],
    ),
    ...repeated(words),
  ];
  return { words, problems: found.map(([field = "", message = ""]) => ({ file: file.name, field, message })) };
}

function unknown(field: string, id: string, ids: ReadonlySet<string>): string[][] {
  return ids.has(id) ? [] : [[field, `"${id}" is no connector's id: correct it`]];
}

function repeated({ connectors, popular }: SearchWords): string[][] {
  const seen = new Set<string>();
  return [
    ...connectors.flatMap(({ connector, words }, row) =>
      words.flatMap((word, index) => {
        const key = `${connector} ${word.toLowerCase()}`;
        const twice = seen.has(key);
        seen.add(key);
        return twice ? [[`connectors[${row}].words[${index}]`, `"${word}" occurs twice for ${connector}: remove one`]] : [];
      }),
    ),
    ...popular.flatMap((id, row) => (popular.indexOf(id) < row ? [[`popular[${row}]`, `"${id}" occurs twice: remove one`]] : [])),
  ];
}
