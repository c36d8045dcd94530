/**
 * The SQL of SBOMs: the document, its components and dependencies, the shortest paths to components, and what quotas count. Rows are
 * written in large batches, as one array per column. Names on paths are cut here, because a document may have names of 65,536 characters.
 */
import type { PendingQuery, Row } from "postgres";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { arrayText } from "../../backing/sql-text.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { pathNameCharactersMax } from "../limits.ts";
import { rowCharacters, type ComponentColumns, type EdgeColumns, type SbomRows } from "./sbom-rows.ts";

interface NewSbom {
  id: string;
  workspace: WorkspaceId;
  project: string;
  filename: string | null;
  /** An email address, or `operator`. */
  createdBy: string;
  rows: SbomRows;
  at: Date;
}

/** The id of the project's document with these bytes. @param sha256 in hexadecimal */
export async function selectSbomId(
  { project, sha256 }: { project: string; sha256: string },
  sql: Queries,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM sboms WHERE project_id = ${project} AND sha256 = decode(${sha256}, 'hex') AND NOT removing`;
  return row?.id;
}

/** Inserts the document without its components and dependencies. */
export async function insertSbom({ rows, ...sbom }: NewSbom, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO sboms (id, workspace_id, project_id, sha256, digest, format, spec_version, encoding, document_id, name, filename,
      components, warnings, row_characters, created_by, created_at)
    VALUES (${sbom.id}, ${sbom.workspace}, ${sbom.project}, decode(${rows.sha256}, 'hex'), decode(${rows.digest}, 'hex'),
      ${rows.format}, ${rows.specVersion}, ${rows.encoding}, ${rows.documentId}, ${rows.name}, ${sbom.filename},
      ${rows.components}, ${arrayText(rows.warnings, (line) => line)}::text[], ${rowCharacters(rows)}, ${sbom.createdBy}, ${sbom.at})`;
}

export async function insertEcosystems(
  { sbom, rows }: { sbom: string; rows: SbomRows["ecosystems"] },
  tx: Transaction,
): Promise<void> {
  await tx`
    INSERT INTO sbom_ecosystems (sbom_id, ecosystem, components, unreadable)
    SELECT ${sbom}, * FROM unnest(
      ${arrayText(rows, ({ ecosystem }) => ecosystem)}::text[], ${arrayText(rows, ({ components }) => components)}::integer[],
      ${arrayText(rows, ({ unreadable }) => unreadable)}::integer[])`;
}

/** Requires that their packages already have rows. */
export async function insertComponents({ sbom, rows }: { sbom: string; rows: ComponentColumns }, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO sbom_components (sbom_id, position, ref, type, name, version, version_key, purl, package_id, relation, via, scope, licenses)
    SELECT ${sbom}, row.position, row.ref, row.type, row.name, row.version, row.key_of_version, row.purl, packages.id, row.relation, row.via,
      row.scope, row.licenses::text[]
    FROM unnest(${rows.positions}::integer[], ${rows.refs}::text[], ${rows.types}::text[], ${rows.names}::text[],
      ${rows.versions}::text[], ${rows.versionKeys}::text[], ${rows.purls}::text[], ${rows.ecosystems}::text[], ${rows.keys}::text[],
      ${rows.relations}::text[], ${rows.vias}::integer[], ${rows.scopes}::text[], ${rows.licenses}::text[])
      AS row (position, ref, type, name, version, key_of_version, purl, ecosystem, key, relation, via, scope, licenses)
    LEFT JOIN packages ON packages.ecosystem = row.ecosystem AND packages.key = row.key`;
}

export async function insertEdges({ sbom, rows }: { sbom: string; rows: EdgeColumns }, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO sbom_edges (sbom_id, from_position, to_position)
    SELECT ${sbom}, row.* FROM unnest(${rows.from}::integer[], ${rows.to}::integer[]) AS row`;
}

/** The components on a shortest path from a document's root to a component, including both. */
interface DependencyPath {
  names: string[];
  /** Each as `name@version`, or as its name if it has no version. */
  labels: string[];
  /** Whether the path begins at the root; of a longer path, only the last `stepsMax` components are read. */
  whole: boolean;
}

interface Step {
  position: number;
  name: string;
  label: string;
  /** The position of the component that it is reached by; null: none. */
  via: number | null;
}

/**
 * Reads one step of all paths at a time, in a statement that is quick with any plan: a connection may still have the plan that it made
 * while there were only small SBOMs.
 * @returns the paths by the position of their last component
 */
export async function selectPaths(
  { sbom, positions, stepsMax }: { sbom: string; positions: readonly number[]; stepsMax: number },
  sql: Queries,
): Promise<Map<number, DependencyPath>> {
  const known = new Map<number, Step>();
  let asked = new Set(positions);
  for (let steps = 0; steps < stepsMax && asked.size > 0; steps++) {
    const found = await sql<Step[]>`
      SELECT position, ${cut(sql`name`, sql)} AS name, ${cut(sql`name || coalesce('@' || version, '')`, sql)} AS label, via
      FROM sbom_components
      WHERE sbom_id = ${sbom} AND position = ANY (${arrayText([...asked], (position) => position)}::integer[])`;
    for (const step of found) known.set(step.position, step);
    asked = new Set(found.flatMap(({ via }) => (via === null || known.has(via) ? [] : [via])));
  }
  const reached = positions.filter((position) => known.has(position));
  return new Map(reached.map((position) => [position, pathTo(position, { known, stepsMax })]));
}

/** From the root, or from the component that is `stepsMax` away. */
function pathTo(position: number, { known, stepsMax }: { known: ReadonlyMap<number, Step>; stepsMax: number }): DependencyPath {
  const steps: Step[] = [];
  for (let step = known.get(position); step !== undefined && steps.length < stepsMax; step = known.get(step.via ?? -1))
    steps.unshift(step);
  const [first] = steps;
  return { names: steps.map(({ name }) => name), labels: steps.map(({ label }) => label), whole: first?.via === null };
}

/** The key of a component's version: stored only where it differs from the version. */
export function componentKey(component: PendingQuery<Row[]>, sql: Queries): PendingQuery<Row[]> {
  return sql`(coalesce(${component}.version_key, ${component}.version, '') COLLATE "C")`;
}

/** What a workspace stores: the number of documents, and the characters in all their rows. */
export async function selectUsage(workspace: WorkspaceId, sql: Queries): Promise<{ documents: number; characters: number }> {
  const [row] = await sql<{ documents: number; characters: number }[]>`
    SELECT count(*)::integer AS documents, coalesce(sum(row_characters), 0)::double precision AS characters
    FROM sboms WHERE workspace_id = ${workspace}`;
  return row ?? { documents: 0, characters: 0 };
}

/** When the document at `offset` was stored, newest first, among those after a given time; undefined: there are fewer. */
export async function selectStoredAt(
  { workspace, after, offset }: { workspace: WorkspaceId; after: Date; offset: number },
  sql: Queries,
): Promise<Date | undefined> {
  const [row] = await sql<{ at: Date }[]>`
    SELECT created_at AS at FROM sboms WHERE workspace_id = ${workspace} AND created_at > ${after}
    ORDER BY created_at DESC LIMIT 1 OFFSET ${offset}`;
  return row?.at;
}

/** @param sha256 of the document, in hexadecimal */
export async function hasSbom({ workspace, sha256 }: { workspace: WorkspaceId; sha256: string }, sql: Queries): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM sboms WHERE workspace_id = ${workspace} AND sha256 = decode(${sha256}, 'hex') LIMIT 1`;
  return rows.length > 0;
}

/** A document may have names of 65,536 characters, and hundreds of paths may include one of them, so long names lose their ends. */
function cut(name: PendingQuery<Row[]>, sql: Queries): PendingQuery<Row[]> {
  return sql`CASE WHEN length(${name}) > ${pathNameCharactersMax} THEN left(${name}, ${pathNameCharactersMax}) || '…' ELSE ${name} END`;
}
