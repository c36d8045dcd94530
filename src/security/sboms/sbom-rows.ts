/**
 * Converts a document to its stored rows. The result depends only on the document and consists of a few large texts, so that a subprocess
 * can make it and pass it on quickly: 300,000 component objects would block the receiver's thread.
 *
 * Components begin at position 1, with or without a root. They are counted by ecosystem, with those that lack a comparable version counted
 * separately. The counts later show what a scan could not compare.
 */
import { arrayText } from "../../backing/sql-text.ts";
import { purlCharactersMax, sbomRowsPerStatement, sbomVersionsMax, versionCharactersMax } from "../limits.ts";
import { type Ecosystem, packageIdentity, packageKey, packageNameOf, type PackageName } from "../versions/ecosystem.ts";
import { isPlainVersion, versionKey, versionToMatch } from "../versions/version-to-match.ts";
import { readVersion } from "../versions/version.ts";
import type { SbomComponent, SbomDocument } from "./document.ts";
import { invalidSbom, SbomRefusal } from "./refusal.ts";

export interface SbomRows extends Pick<
  SbomDocument,
  "format" | "specVersion" | "encoding" | "documentId" | "name" | "sha256" | "digest" | "warnings"
> {
  /** The number of components, without the root. */
  components: number;
  /** Components per ecosystem, without those that only stand for a lock file. */
  ecosystems: EcosystemCount[];
  /** The packages of the components, without duplicates. */
  packages: PackageName[];
  componentRows: ComponentColumns[];
  edgeRows: EdgeColumns[];
}

interface EcosystemCount {
  /** Empty: none of the seven, or no readable package URL. */
  ecosystem: Ecosystem | "";
  components: number;
  /** How many of these have no version that can be compared; without an ecosystem, a package URL that cannot be read. */
  unreadable: number;
}

/** As many rows as one statement takes, as PostgreSQL array literals. */
export interface ComponentColumns {
  positions: string;
  refs: string;
  types: string;
  names: string;
  versions: string;
  /** What all spellings of the version share; null: the version itself, or no package. */
  versionKeys: string;
  purls: string;
  /** The ecosystem and the key of the package; both null if it belongs to none of the seven. */
  ecosystems: string;
  keys: string;
  relations: string;
  vias: string;
  scopes: string;
  /** Each element is itself an array literal. */
  licenses: string;
}

export interface EdgeColumns {
  from: string;
  to: string;
}

/** @throws SbomRefusal invalid if a text cannot be stored; too_large if a package has too many versions */
export function toSbomRows(document: SbomDocument): SbomRows {
  const rows = rowsOf(document);
  requireFewVersions(rows);
  const positions = new Map(rows.map(({ component, position }) => [component.ref, position]));
  const edges = document.edges.flatMap(({ from, to }) => {
    const ends = { from: positions.get(from), to: positions.get(to) };
    return ends.from === undefined || ends.to === undefined ? [] : [{ from: ends.from, to: ends.to }];
  });
  const { format, specVersion, encoding, documentId, name, sha256, digest, warnings } = document;
  const header = { format, specVersion, encoding, documentId, name, sha256, digest, warnings };
  return {
    ...header,
    components: document.components.length,
    ecosystems: countEcosystems(rows),
    packages: packagesOf(rows),
    componentRows: batchesOf(rows).map(columnsOf),
    edgeRows: batchesOf(edges).map((batch) => ({
      from: arrayText(batch, ({ from }) => from),
      to: arrayText(batch, ({ to }) => to),
    })),
  };
}

/** The number of characters in a document's rows: what storing it costs, whatever the size of the document. */
export function rowCharacters({ componentRows, edgeRows }: SbomRows): number {
  let characters = 0;
  for (const columns of [...componentRows, ...edgeRows]) for (const text of Object.values(columns)) characters += text.length;
  return characters;
}

interface Row {
  position: number;
  component: SbomComponent;
  named: PackageName | null;
  version: string | null;
  versionKey: string | null;
  via: number | null;
}

function rowsOf({ root, components, otherSteps, documentId, name }: SbomDocument): Row[] {
  requireStorable([documentId, name], "document");
  const listed = [...(root === null ? [] : [{ component: root, position: 0 }]), ...components.map(placed)];
  const positions = new Map(listed.map(({ component, position }) => [component.ref, position]));
  const passed = new Map(otherSteps.map(({ ref, via }) => [ref, via]));
  return listed.map(({ component, position }) => {
    let via = component.via;
    while (via !== null && !positions.has(via)) via = passed.get(via) ?? null;
    const [named, version] = [packageOf(component), versionOf(component)];
    return {
      position,
      component,
      named,
      version,
      versionKey: named && versionKey({ ecosystem: named.ecosystem, version }),
      via: via === null ? null : (positions.get(via) ?? null),
    };
  });
}

/** JSON escapes can produce characters that PostgreSQL cannot store. */
function requireStorable(texts: readonly (string | null)[], path: string): void {
  const bad = texts.find((text) => text !== null && (text.includes("\0") || !text.isWellFormed()));
  if (bad === undefined) return;
  throw invalidSbom([{ path, says: "has a text with U+0000 or half of a surrogate pair, which no text may hold; remove it" }]);
}

/** Components begin at 1, with or without a root. */
function placed(component: SbomComponent, index: number): { component: SbomComponent; position: number } {
  return { component, position: index + 1 };
}

/** A longer value does not fit into an index together with other columns. */
const indexedBytesMax = 2_048;

function packageOf({ group, name, version, purl: { parsed } }: SbomComponent): PackageName | null {
  const named = parsed && packageNameOf({ ...parsed, version: parsed.version ?? version }, nameWithGroup({ group, name }));
  return named === null || Buffer.byteLength(named.name) > indexedBytesMax ? null : named;
}

function nameWithGroup({ group, name }: Pick<SbomComponent, "group" | "name">): string {
  return group === null ? name : `${group}/${name}`;
}

function versionOf({ ref, version, purl }: SbomComponent): string | null {
  const shown = version ?? purl.parsed?.version ?? null;
  if (shown !== null && Buffer.byteLength(shown) > versionCharactersMax) {
    const says = `has a version of ${shown.length} characters; at most ${versionCharactersMax} are kept`;
    throw invalidSbom([{ path: placeOf(ref), says }]);
  }
  return shown;
}

function placeOf(ref: string): string {
  return `component "${ref.length > 100 ? `${ref.slice(0, 100)}…` : ref}"`;
}

/** Each version is compared with a package's advisories; no real application has more. */
function requireFewVersions(rows: readonly Row[]): void {
  const versions = new Map<string, Set<string>>();
  for (const { named, versionKey: version } of rows) {
    if (named === null || version === null) continue;
    const key = packageIdentity(named);
    const own = versions.get(key) ?? new Set();
    versions.set(key, own.add(version));
    if (own.size <= sbomVersionsMax) continue;
    throw new SbomRefusal(
      "too_large",
      `The document has more than ${sbomVersionsMax} versions of the package "${named.name}"; split it into several projects`,
    );
  }
}

function countEcosystems(rows: readonly Row[]): EcosystemCount[] {
  const counts = new Map<string, EcosystemCount>();
  for (const { position, component, named, version } of rows) {
    if (position === 0 || isFileOfPackages(component)) continue;
    const ecosystem = named?.ecosystem ?? "";
    const count = counts.get(ecosystem) ?? { ecosystem, components: 0, unreadable: 0 };
    counts.set(ecosystem, count);
    count.components++;
    if (
      named === null ? hasUnreadablePurl(component) : !isReadable({ ecosystem: named.ecosystem, version, purl: component.purl })
    )
      count.unreadable++;
  }
  return [...counts.values()];
}

/** A lock file contains the packages that it names; no advisory is about it. */
function isFileOfPackages({ type, version, purl }: SbomComponent): boolean {
  return type === "application" && version === null && purl.written === null;
}

function hasUnreadablePurl({ purl }: SbomComponent): boolean {
  return purl.written !== null && purl.parsed === null;
}

function isReadable({
  ecosystem,
  version,
  purl,
}: { ecosystem: Ecosystem; version: string | null } & Pick<SbomComponent, "purl">): boolean {
  if (version === null) return false;
  const shown = purl.parsed?.version ?? version;
  if (isPlainVersion(ecosystem, shown)) return true;
  const text = versionToMatch({ ecosystem, version, purl: purl.parsed === null ? null : purl.written });
  return readVersion({ scheme: ecosystem, text }).known;
}

function packagesOf(rows: readonly Row[]): PackageName[] {
  const named = rows.flatMap(({ named }) => named ?? []);
  return [...new Map(named.map((one) => [packageIdentity(one), one])).values()];
}

function batchesOf<T>(rows: readonly T[]): T[][] {
  const batches = Math.ceil(rows.length / sbomRowsPerStatement);
  return Array.from({ length: batches }, (_, index) =>
    rows.slice(index * sbomRowsPerStatement, (index + 1) * sbomRowsPerStatement),
  );
}

function columnsOf(rows: Row[]): ComponentColumns {
  for (const { component, version } of rows) {
    const { ref, type, group, name, purl, scope, licenses } = component;
    requireStorable([ref, type, group, name, version, purl.written, scope, ...licenses], placeOf(ref));
  }
  return {
    positions: arrayText(rows, ({ position }) => position),
    refs: arrayText(rows, ({ component }) => component.ref),
    types: arrayText(rows, ({ component }) => component.type),
    names: arrayText(rows, shownName),
    versions: arrayText(rows, ({ version }) => version),
    versionKeys: arrayText(rows, ({ version, versionKey: key }) => (key === version ? null : key)),
    purls: arrayText(rows, ({ component }) => storedPurl(component)),
    ecosystems: arrayText(rows, ({ named }) => named?.ecosystem ?? null),
    keys: arrayText(rows, ({ named }) => named && packageKey(named)),
    relations: arrayText(rows, ({ component }) => component.relation),
    vias: arrayText(rows, ({ via }) => via),
    scopes: arrayText(rows, ({ component }) => component.scope),
    licenses: arrayText(rows, ({ component }) => arrayText(component.licenses, (license) => license)),
  };
}

/** As written, whether it can be read or not. Of one that is too long to be read, the beginning is kept, which is too long as well. */
function storedPurl({ purl: { written } }: SbomComponent): string | null {
  return written !== null && written.length > purlCharactersMax
    ? `${written.slice(0, purlCharactersMax).toWellFormed()}…`
    : written;
}

function shownName({ component: { group, name }, named }: Row): string {
  return named?.name ?? nameWithGroup({ group, name });
}
