/** Checks catalog files and builds a catalog from them, with all problems that must be fixed. */
import { byCodeUnits } from "../../../kernel/by-code-units.ts";
import type { ConnectorCatalog } from "./catalog.ts";
import type { CatalogFile, ConnectorFiles } from "./catalog-folder.ts";
import { duplicatesIn } from "./duplicates.ts";
import { formatProblem, type Problem } from "./problem.ts";
import { readerOf } from "./read-file.ts";
import { findingsOf, spellingOf, type Surroundings } from "./rules.ts";
import { Categories, Connector, GrantNotes, OAuthApps } from "./schema.ts";

const readCategories = readerOf(Categories);
const readGrantNotes = readerOf(GrantNotes);
const readOAuthApps = readerOf(OAuthApps);
const readConnector = readerOf(Connector);

export interface Judgement {
  /** All that could be read, with or without problems. */
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
      .map((id) => ({ file: "oauth-apps.json", field: "connector", message: `"${id}" is no connector's id: correct it` })),
  ];
}

function problemIn({ slug }: Connector, { field, message }: Omit<Problem, "file">): Problem {
  return { file: `connectors/${slug}.json`, field, message };
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
