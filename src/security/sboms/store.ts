import { arrayText } from "../../backing/sql-text.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { rowCharacters } from "./row-characters.ts";
import type { ComponentColumns, EdgeColumns, SbomRows } from "./sbom-rows.ts";

export interface NewSbom {
  id: string;
  workspace: WorkspaceId;
  project: string;
  filename: string | null;
  /** An e-mail address, or `operator`. */
  createdBy: string;
  rows: SbomRows;
  at: Date;
}

/** The project's document with these bytes. @param sha256 in hexadecimal */
export async function selectSbomId(
  { project, sha256 }: { project: string; sha256: string },
  sql: Queries,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM sboms WHERE project_id = ${project} AND sha256 = decode(${sha256}, 'hex') AND NOT removing`;
  return row?.id;
}

/** Without its components and dependencies. */
export async function insertSbom({ rows, ...sbom }: NewSbom, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO sboms (id, workspace_id, project_id, sha256, digest, format, spec_version, encoding, document_id, name, filename,
      components, row_characters, created_by, created_at)
    VALUES (${sbom.id}, ${sbom.workspace}, ${sbom.project}, decode(${rows.sha256}, 'hex'), decode(${rows.digest}, 'hex'),
      ${rows.format}, ${rows.specVersion}, ${rows.encoding}, ${rows.documentId}, ${rows.name}, ${sbom.filename},
      ${rows.components}, ${rowCharacters(rows)}, ${sbom.createdBy}, ${sbom.at})`;
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

/** Their packages already have rows. */
export async function insertComponents({ sbom, rows }: { sbom: string; rows: ComponentColumns }, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO sbom_components (sbom_id, position, ref, type, name, version, purl, package_id, relation, via, scope, licenses)
    SELECT ${sbom}, row.position, row.ref, row.type, row.name, row.version, row.purl, packages.id, row.relation, row.via,
      row.scope, row.licenses::text[]
    FROM unnest(${rows.positions}::integer[], ${rows.refs}::text[], ${rows.types}::text[], ${rows.names}::text[],
      ${rows.versions}::text[], ${rows.purls}::text[], ${rows.ecosystems}::text[], ${rows.keys}::text[],
      ${rows.relations}::text[], ${rows.vias}::integer[], ${rows.scopes}::text[], ${rows.licenses}::text[])
      AS row (position, ref, type, name, version, purl, ecosystem, key, relation, via, scope, licenses)
    LEFT JOIN packages ON packages.ecosystem = row.ecosystem AND packages.key = row.key`;
}

export async function insertEdges({ sbom, rows }: { sbom: string; rows: EdgeColumns }, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO sbom_edges (sbom_id, from_position, to_position)
    SELECT ${sbom}, row.* FROM unnest(${rows.from}::integer[], ${rows.to}::integer[]) AS row`;
}
