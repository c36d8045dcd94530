/**
 * Rewrites catalog files in their canonical text, the only one allowed for a connector's facts. So diffs show only facts, and exports are
 * stable to the byte. It changes no fact; an unreadable file stays as it is and is reported.
 */
import { byCodeUnits } from "../../../kernel/text.ts";
import { type CatalogFile, type ConnectorFiles, type Problem, readerOf } from "./read-file.ts";
import {
  Connector,
  GrantNotes,
  SearchWords,
  claims,
  Evidence,
  Field,
  Grant,
  methods,
  DeclaredProbe,
  type FileCredentialSet,
} from "./schema.ts";

const readConnector = readerOf(Connector);
const readGrantNotes = readerOf(GrantNotes);
const readSearchWords = readerOf(SearchWords);

interface Formatted {
  /** Files whose text differs from the canonical one, with the canonical text. */
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

/** @param noteOrder codes of grant-notes.json */
export function canonicalText(connector: Connector, noteOrder: readonly string[]): string {
  return `${JSON.stringify(canonicalConnector(connector, noteOrder), null, 2)}\n`;
}

/** One row per line, so that a diff shows whole rows; sorted by connector, otherwise in the given order. */
export function canonicalSearchWords(words: SearchWords): string {
  const sorted = { ...words, connectors: words.connectors.toSorted((one, other) => byCodeUnits(one.connector, other.connector)) };
  const lists = Object.entries(inOrder(SearchWords, sorted)).map(([name, rows]) => {
    const lines = (rows as unknown[]).map((row) => `    ${lineOf(row)}`);
    return `  ${JSON.stringify(name)}: [\n${lines.join(",\n")}\n  ]`;
  });
  return `{\n${lists.join(",\n")}\n}\n`;
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

function canonicalConnector(connector: Connector, noteOrder: readonly string[]): object {
  const { aka, credential_sets, grant } = connector;
  return inOrder(Connector, {
    ...connector,
    ...(aka && { aka: aka.toSorted(byCodeUnits) }),
    methods: connector.methods.toSorted(byList(methods)),
    ...(credential_sets && { credential_sets: credential_sets.map((set) => canonicalSet(set, noteOrder)) }),
    grant: grant && canonicalGrant(grant, noteOrder),
    evidence: connector.evidence
      .toSorted((one, other) => byCodeUnits(one.url, other.url))
      .map((one) => inOrder(Evidence, { ...one, for: one.for.toSorted(byList(claims)) })),
  });
}

/** Copies the properties in the schema's order; absent ones stay absent. */
function inOrder(schema: { properties: object }, value: object): object {
  const order = Object.keys(schema.properties);
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other)));
}

function byList(order: readonly string[]): (one: string, other: string) => number {
  return (one, other) => order.indexOf(one) - order.indexOf(other);
}

function canonicalSet({ fields, probe, grant }: FileCredentialSet, noteOrder: readonly string[]): object {
  const ordered = {
    fields: fields.map((field) => inOrder(Field, field)),
    ...(probe && { probe: inOrder(DeclaredProbe, probe) }),
  };
  return grant === undefined ? ordered : { ...ordered, grant: grant && canonicalGrant(grant, noteOrder) };
}

function canonicalGrant(grant: Grant, noteOrder: readonly string[]): object {
  const { scopes, notes } = grant;
  return inOrder(Grant, { ...grant, scopes: scopes.toSorted(byCodeUnits), notes: notes.toSorted(byList(noteOrder)) });
}

/** JSON with a space after commas and colons. */
function lineOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(lineOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}: ${lineOf(one)}`)
    .join(", ")} }`;
}
