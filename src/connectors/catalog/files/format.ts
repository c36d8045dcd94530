/** Rewrites catalog files in their canonical text. It changes no fact. */
import { canonicalSearchWords, canonicalText } from "./canonical.ts";
import type { CatalogFile, ConnectorFiles } from "./catalog-folder.ts";
import type { Problem } from "./problem.ts";
import { readerOf } from "./read-file.ts";
import { Connector, GrantNotes, SearchWords } from "./schema.ts";

const readConnector = readerOf(Connector);
const readGrantNotes = readerOf(GrantNotes);
const readSearchWords = readerOf(SearchWords);

export interface Formatted {
  /** Those whose text differs from the canonical one, with that text. */
  changed: CatalogFile[];
  /** Why files cannot be formatted; they stay as they are. */
  problems: Problem[];
}

export function formatConnectors({ connectors, grantNotes, searchWords }: ConnectorFiles): Formatted {
  const notes = readGrantNotes(grantNotes);
  const codes = (notes.value ?? []).map(({ code }) => code);
  const found = [
    ...connectors.map((file) => formatOne(file, { read: readConnector, write: (value) => canonicalText(value, codes) })),
    ...(searchWords === null ? [] : [formatOne(searchWords, { read: readSearchWords, write: canonicalSearchWords })]),
  ];
  return {
    changed: found.flatMap(({ changed }) => changed),
    problems: [...notes.problems, ...found.flatMap(({ problems }) => problems)],
  };
}

function formatOne<Value>(
  file: CatalogFile,
  { read, write }: { read: (file: CatalogFile) => { value: Value | null; problems: Problem[] }; write: (value: Value) => string },
): Formatted {
  const { value, problems } = read(file);
  if (value === null) return { changed: [], problems };
  const text = write(value);
  return { changed: text === file.text ? [] : [{ name: file.name, text }], problems };
}
