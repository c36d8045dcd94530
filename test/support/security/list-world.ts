/** Findings as scans and people write them, straight into their tables, and what lists must then say of them. */
import { arrayText } from "../../../src/backing/sql-text.ts";
import type { Database, Queries, Transaction } from "../../../src/backing/backing.ts";
import { newToolsId } from "../../../src/kernel/ids.ts";
import type { Ecosystem } from "../../../src/security/versions/ecosystem.ts";

export const statuses = ["open", "resolved", "ignored", "in_progress", "not_affected"] as const;

export interface NewFinding {
  project: string;
  vulnerability: bigint;
  package: bigint;
  version: string;
  status?: (typeof statuses)[number];
  falsePositive?: boolean;
}

const at = Date.UTC(2026, 10, 20);

export class ListWorld {
  readonly sql: Database;
  #made = 0;

  constructor(sql: Database) {
    this.sql = sql;
  }

  async product(workspace: string, name: string): Promise<string> {
    const id = newToolsId("prd", at);
    await this
      .sql`INSERT INTO products (id, workspace_id, name, created_at) VALUES (${id}, ${workspace}, ${name}, ${new Date(at)})`;
    return id;
  }

  async project(workspace: string, name: string, product: string | null = null): Promise<string> {
    const id = newToolsId("prj", at);
    await this.sql`
      INSERT INTO projects (id, workspace_id, product_id, name, provider, created_at)
      VALUES (${id}, ${workspace}, ${product}, ${name}, 'upload', ${new Date(at)})`;
    return id;
  }

  async sbom(workspace: string, project: string): Promise<string> {
    const id = newToolsId("sbom", at + ++this.#made);
    await this.sql`
      INSERT INTO sboms (id, workspace_id, project_id, sha256, digest, format, spec_version, encoding, components, created_by, created_at)
      VALUES (${id}, ${workspace}, ${project}, ${Buffer.from(id)}, ${Buffer.from(id)}, 'SPDX', '2.3', 'json', 0, 'x', ${new Date(at)})`;
    return id;
  }

  async package(ecosystem: Ecosystem, name: string): Promise<bigint> {
    const [row] = await this.sql<{ id: bigint }[]>`
      INSERT INTO packages (ecosystem, key, name) VALUES (${ecosystem}, ${name}, ${name}) RETURNING id`;
    return row?.id ?? 0n;
  }

  async vulnerability(
    name: string,
    { rank = 3075, score = null, description = "An issue" }: { rank?: number; score?: number | null; description?: string } = {},
  ): Promise<bigint> {
    const [row] = await this.sql<{ id: bigint }[]>`
      INSERT INTO vulnerabilities (name, score, rank, description, withdrawn) VALUES (${name}, ${score}, ${rank}, ${description}, false)
      RETURNING id`;
    return row?.id ?? 0n;
  }

  /** By the rank of their issues. Those that are there already stay as they are. @returns their ids */
  async find(findings: NewFinding[], sql: Queries = this.sql): Promise<string[]> {
    const rows = findings.map((finding) => ({ ...finding, id: newToolsId("fnd", at + 7_777_777 * ++this.#made) }));
    const column = (read: (row: (typeof rows)[number]) => string | bigint | boolean): string => arrayText(rows, read);
    const inserted = await sql<{ id: string }[]>`
      INSERT INTO findings (id, workspace_id, product_id, project_id, package_id, version, version_key, vulnerability_id, component, purl, status,
        false_positive, present, rank, fix_version, evidence, first_seen, last_seen)
      SELECT given.id, projects.workspace_id, projects.product_id, projects.id, package_id, version, version, vulnerability_id, packages.name,
        'pkg:test/' || packages.name || '@' || version, status, false_positive, true, vulnerabilities.rank, '9.9.9',
        '{"source": "GHSA-1", "range": "introduced 0, fixed 9.9.9", "comparator": ">= 0, < 9.9.9", "listed": null}', ${new Date(at)}, ${new Date(at)}
      FROM unnest(${column(({ id }) => id)}::text[], ${column(({ project }) => project)}::text[],
        ${column((row) => row.package)}::bigint[], ${column(({ version }) => version)}::text[],
        ${column(({ vulnerability }) => vulnerability)}::bigint[], ${column(({ status = "open" }) => status)}::text[],
        ${column(({ falsePositive = false }) => falsePositive)}::boolean[])
        AS given (id, project_id, package_id, version, vulnerability_id, status, false_positive)
      JOIN projects ON projects.id = given.project_id
      JOIN packages ON packages.id = package_id
      JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id
      ON CONFLICT DO NOTHING RETURNING id`;
    return inserted.map(({ id }) => id);
  }

  async occur(sbom: string, findings: string[], sql: Queries = this.sql): Promise<void> {
    await sql`INSERT INTO finding_sboms (sbom_id, finding_id) SELECT ${sbom}, unnest(${findings}::text[]) ON CONFLICT DO NOTHING`;
  }

  async move(project: string, product: string | null, tx: Transaction): Promise<void> {
    await tx`UPDATE projects SET product_id = ${product} WHERE id = ${project}`;
    await tx`UPDATE findings SET product_id = ${product} WHERE project_id = ${project}`;
  }
}

/** What is kept for lists against what findings say. @returns a line for each difference */
export async function listDifferences(sql: Queries): Promise<string[]> {
  const scopes = sql`CROSS JOIN LATERAL (VALUES (workspace_id), (product_id), (project_id)) AS scope (id)`;
  const live = sql`
    SELECT scope.id AS scope_id, vulnerability_id, vulnerabilities.name, max(findings.rank) AS rank,
      bit_or(ecosystem_bit(ecosystem)) AS ecosystems, count(*) AS findings, count(DISTINCT project_id) AS projects,
      (array_agg(findings.id ORDER BY findings.rank DESC, findings.id))[1] AS top_finding
    FROM findings JOIN packages ON packages.id = package_id JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id ${scopes}
    WHERE scope.id IS NOT NULL AND status IN ('open', 'in_progress') AND NOT false_positive
    GROUP BY 1, 2, 3`;
  const pairs = {
    finding_buckets: [
      sql`SELECT scope_id, depth, rank, slice, status, false_positive, amount FROM finding_buckets`,
      sql`SELECT scope.id, depth, rank, slice, status, false_positive, count(*) FROM findings ${scopes}
        CROSS JOIN LATERAL (VALUES (0, ''), (1, left(findings.id, 7)), (2, left(findings.id, 9)), (3, left(findings.id, 10)), (4, left(findings.id, 13))) AS slices (depth, slice)
        WHERE scope.id IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6`,
    ],
    scope_vulnerabilities: [
      sql`SELECT scope_id, vulnerability_id, name, rank, ecosystems, findings, projects, top_finding FROM scope_vulnerabilities`,
      live,
    ],
    vulnerability_buckets: [
      sql`SELECT scope_id, depth, rank, slice, ecosystems, amount FROM vulnerability_buckets`,
      sql`SELECT scope_id, depth, rank, slice, ecosystems, count(*) FROM (${live}) AS live
        CROSS JOIN LATERAL (VALUES (0, ''), (1, left(name, 6)), (2, left(name, 8)), (3, left(name, 10))) AS slices (depth, slice)
        GROUP BY 1, 2, 3, 4, 5`,
    ],
    finding_sboms: [
      sql`SELECT sbom_id, finding_id, status, false_positive, rank FROM finding_sboms`,
      sql`SELECT sbom_id, finding_id, findings.status, findings.false_positive, findings.rank
        FROM finding_sboms JOIN findings ON findings.id = finding_id`,
    ],
    finding_notes: [sql`SELECT finding_id FROM finding_notes`, sql`SELECT '' WHERE false`],
    scope_notes: [sql`SELECT scope_id FROM scope_notes`, sql`SELECT '' WHERE false`],
  } as const;
  const lines: string[] = [];
  for (const [name, [kept, counted]] of Object.entries(pairs)) {
    const rows = await sql<{ line: string }[]>`
      (SELECT 'kept ' || more::text AS line FROM (${kept} EXCEPT ${counted}) AS more)
      UNION ALL (SELECT 'counted ' || less::text FROM (${counted} EXCEPT ${kept}) AS less)`;
    lines.push(...rows.map(({ line }) => `${name}: ${line}`));
  }
  return lines;
}
