/**
 * Checks the files of the catalog together and builds a catalog from them, or names all problems that must be fixed.
 *
 * Beyond the rules for one connector, it finds connectors that are duplicates or that readers could confuse. A mistake in the search words
 * never refuses the catalog: `weir catalog check` reports it, and a service searches without the unusable words.
 */
import { byCodeUnits } from "../../../kernel/text.ts";
import { canonicalSearchWords } from "./format.ts";
import { type CatalogFile, type ConnectorFiles, formatProblem, type Problem, readerOf } from "./read-file.ts";
import { findingsOf, spellingOf, type Surroundings, differs, type Finding } from "./rules.ts";
import { type ConnectorCatalog, Categories, Connector, GrantNotes, OAuthApps, SearchWords } from "./schema.ts";

const readCategories = readerOf(Categories);
const readGrantNotes = readerOf(GrantNotes);
const readOAuthApps = readerOf(OAuthApps);

export interface Judgement {
  /** Everything that could be read, with or without problems. */
  catalog: ConnectorCatalog;
  problems: Problem[];
}

export function judgeConnectors(files: ConnectorFiles): Judgement {
  const categories = readCategories(files.categories);
  const notes = readGrantNotes(files.grantNotes);
  const apps = readOAuthApps(files.oauthApps);
  const surroundings: Surroundings = {
    categories: new Set(categories.value?.map(({ name }) => name)),
    notes: new Map(notes.value?.map(({ code, text }) => [code, text])),
    oauthApps: new Set(apps.value?.map(({ connector }) => connector)),
  };
  const read = files.connectors.map((file) => judgeOne(file, surroundings));
  const connectors = read.flatMap(({ connector }) => connector ?? []).toSorted((one, other) => byCodeUnits(one.id, other.id));
  return {
    catalog: { categories: [...surroundings.categories], grantNotes: notes.value ?? [], connectors },
    problems: [
      ...[categories, notes, apps].flatMap(({ problems }) => problems),
      ...repeated(files, { categories: categories.value, notes: notes.value }),
      ...read.flatMap(({ problems }) => problems),
      ...judgeTogether(connectors, surroundings),
    ],
  };
}

/** @throws Error that names the first problem */
export function catalogOf(files: ConnectorFiles): ConnectorCatalog {
  const { catalog, problems } = judgeConnectors(files);
  const [first] = problems;
  if (!first) return catalog;
  throw new Error(`The connector catalog is refused: ${formatProblem(first)} (problems in all: ${problems.length})`);
}

const readWords = readerOf(SearchWords);
export const noSearchWords: SearchWords = { connectors: [], categories: [], methods: [], popular: [] };

/** @param file null if the folder has none */
export function judgeSearchWords(
  file: CatalogFile | null,
  { connectors, categories }: ConnectorCatalog,
): { words: SearchWords; problems: Problem[] } {
  if (file === null) return { words: noSearchWords, problems: [] };
  const { value: words, problems } = readWords(file);
  if (!words) return { words: noSearchWords, problems };
  const ids = new Set(connectors.map(({ id }) => id));
  const found = [
    ...differs(file.text, canonicalSearchWords(words)).map((message) => ["", message]),
    ...words.connectors.flatMap(({ connector }, row) => unknownConnector(`connectors[${row}].connector`, connector, ids)),
    ...words.popular.flatMap((id, row) => unknownConnector(`popular[${row}]`, id, ids)),
    ...words.categories.flatMap(({ category }, row) =>
      categories.includes(category)
        ? []
        : [[`categories[${row}].category`, `"${category}" is not in categories.json: write one of its names`]],
    ),
    ...repeatedWords(words),
  ];
  return { words, problems: found.map(([field = "", message = ""]) => ({ file: file.name, field, message })) };
}

const readConnector = readerOf(Connector);

function judgeOne(file: CatalogFile, surroundings: Surroundings): { connector: Connector | null; problems: Problem[] } {
  const { value: connector, problems } = readConnector(file);
  if (!connector) return { connector, problems };
  const findings = [
    ...findingsOf(connector, surroundings),
    ...spellingOf({ connector, text: file.text, notes: [...surroundings.notes.keys()] }),
  ];
  const wanted = `connectors/${connector.slug}.json`;
  if (file.name !== wanted) findings.push(["slug", `is "${connector.slug}": rename the file to ${wanted}, or change the slug`]);
  return { connector, problems: findings.map(([field, message]) => ({ file: file.name, field, message })) };
}

function repeated(
  files: ConnectorFiles,
  { categories, notes }: { categories: { name: string }[] | null; notes: GrantNotes | null },
): Problem[] {
  const twice = (file: CatalogFile, words: string[], field: string): Problem[] =>
    words.flatMap((word, index) =>
      words.indexOf(word) < index
        ? [{ file: file.name, field: `[${index}].${field}`, message: `"${word}" occurs twice: remove one` }]
        : [],
    );
  return [
    ...twice(
      files.categories,
      (categories ?? []).map(({ name }) => name),
      "name",
    ),
    ...twice(
      files.grantNotes,
      (notes ?? []).map(({ code }) => code),
      "code",
    ),
  ];
}

function judgeTogether(connectors: readonly Connector[], { oauthApps }: Surroundings): Problem[] {
  const known = new Set(connectors.map(({ id }) => id));
  const records = connectors.filter(({ methods }) => methods.includes("record_only"));
  return [
    ...duplicatesIn(connectors).map(({ connector, finding: [field, message] }) => problemIn(connector, { field, message })),
    ...records.slice(1).map((connector) => {
      const message = `"record_only" is already in ${records[0]?.slug}, the only exception: write "api_token"`;
      return problemIn(connector, { field: "methods", message });
    }),
    ...[...oauthApps]
      .filter((id) => !known.has(id))
      .map((id) => ({
        file: "oauth-apps.json",
        field: "connector",
        message: `"${id}" is not the id of a connector: correct it`,
      })),
  ];
}

/** What a connector shares with earlier ones in the catalog. */
function duplicatesIn(connectors: readonly Connector[]): { connector: Connector; finding: Finding }[] {
  const ids = new Map<string, Connector>();
  const names = new Map<string, Connector>();
  /** "Duo" of "Cisco Duo" may be the whole name of another system; "Cloud" is not a name, since many products use it. */
  const products = new Map<string, Connector>();
  return connectors.flatMap((connector) => {
    const found: Finding[] = [];
    const clash = (field: string, other: Connector | undefined): void => {
      if (!other || other === connector) return;
      found.push([field, `is a name of ${other.slug} too: keep one of the two, the other name as its aka`]);
    };
    const sameId = ids.get(connector.id);
    if (sameId) found.push(["id", `"${connector.id}" is the id of ${sameId.slug} too: an id is never reused, make another`]);
    const product = productOf(connector);
    for (const [field, name] of namesOf(connector)) clash(field, names.get(name) ?? products.get(name));
    clash("name", names.get(product));
    ids.set(connector.id, connector);
    products.set(product, connector);
    for (const [, name] of namesOf(connector)) names.set(name, connector);
    return found.map((finding) => ({ connector, finding }));
  });
}

/** The name without the vendor's. */
function productOf({ name, vendor }: Connector): string {
  const vendorWords = wordsOf(vendor);
  return wordsOf(name)
    .filter((word) => !vendorWords.includes(word))
    .join("");
}

/** Words that distinguish a company from its products, but not two systems from each other. */
const idle = new Set([
  "inc",
  "ltd",
  "llc",
  "gmbh",
  "corp",
  "corporation",
  "company",
  "the",
  "by",
  "for",
  "com",
  "io",
  "ai",
  "app",
]);

function wordsOf(name: string): string[] {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("&", " and ");
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  const telling = words.filter((word) => !idle.has(word));
  return telling.length > 0 ? telling : words;
}

function namesOf({ name, aka = [] }: Connector): [field: string, name: string][] {
  const others = aka.map((other, index): [string, string] => [`aka[${index}]`, wordsOf(other).join("")]);
  return [["name", wordsOf(name).join("")], ...others];
}

function problemIn({ slug }: Connector, { field, message }: Omit<Problem, "file">): Problem {
  return { file: `connectors/${slug}.json`, field, message };
}

function unknownConnector(field: string, id: string, ids: ReadonlySet<string>): string[][] {
  return ids.has(id) ? [] : [[field, `"${id}" is not the id of a connector: correct it`]];
}

function repeatedWords({ connectors, popular }: SearchWords): string[][] {
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
