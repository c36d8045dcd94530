/** The SQL that loads the security side of the console part, besides what the lists part loads in the same way. */
import type postgres from "postgres";
import * as lists from "../lists/plan.ts";
import { projectId, sbomId } from "../lists/store.ts";
import * as plan from "./plan.ts";

type Queries = postgres.ISql;

/** Each vulnerability is found by its name. */
export async function insertNames(sql: Queries): Promise<void> {
  await sql`INSERT INTO vulnerability_names (name, vulnerability_id, shared) SELECT name, id, false FROM vulnerabilities`;
}

/** The newest document of a project has all of its findings, and the scan of it is done. */
export async function completeProject(number: number, sql: Queries): Promise<void> {
  await sql`INSERT INTO finding_sboms (sbom_id, finding_id) SELECT ${sbomId(number)}, id FROM findings WHERE project_id = ${projectId(number)}`;
  await sql`
    UPDATE projects SET sbom_id = ${sbomId(number)}, scan_status = 'completed', last_scanned_at = now()
    WHERE id = ${projectId(number)}`;
}

export async function insertComponents(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO sbom_components (sbom_id, position, ref, type, name, version, purl, package_id, relation, licenses)
    SELECT sboms.id, n, 'ref-' || n, 'library', packages.name, '1.' || n, 'pkg:generic/' || packages.name || '@1.' || n, packages.id,
      'direct', '{MIT}'
    FROM projects JOIN sboms ON sboms.id = projects.sbom_id CROSS JOIN generate_series(1, ${plan.components}::integer) AS n
    JOIN packages ON packages.id = 1 + (hashtext(sboms.id)::bigint + 2147483648 + n) % ${lists.packages}::integer`;
}

/** Each finding was made by a scan, and every twentieth was decided about. */
export async function insertHistory(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO finding_events (finding_id, at, actor, cause, changes)
    SELECT id, first_seen, 'scanner', 'scan', '{"status":{"from":null,"to":"open"}}' FROM findings`;
  await sql`
    INSERT INTO triages (project_id, package_id, vulnerability_id, status, false_positive, note, decided_by, decided_at)
    SELECT project_id, package_id, vulnerability_id, status, false_positive, 'seen', ${plan.memberEmail(0)}, now()
    FROM findings WHERE status <> 'open' AND hashtext(id) % 20 = 0 ON CONFLICT DO NOTHING`;
}

export async function insertTickets(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO tickets (id, reference, workspace_id, owner_email, type, subject, details, status, fingerprint, created_at, updated_at)
    SELECT 'tkt_' || translate(lpad(n::text, 26, '0'), '0189', 'wxyz'), 'BENCH-' || n, ${plan.workspaceId(0)}, 'member-' || n % ${plan.owners}::integer || '@bench.test',
      (ARRAY['feedback', 'bug', 'support'])[1 + n % 3], 'Ticket ' || n, '{}', (ARRAY['open', 'in_progress', 'resolved', 'closed'])[1 + n % 4],
      decode(md5(n::text), 'hex'), now() - n * interval '5 minutes', now()
    FROM generate_series(1, ${plan.tickets}::integer) AS n`;
}

/** @param connectors ids of the catalog */
export async function insertConnections(connectors: readonly string[], sql: Queries): Promise<void> {
  await sql`
    INSERT INTO connections (id, workspace_id, connector_id, method, credential_set, created_at, updated_at)
    SELECT 'con-' || translate(lpad(n::text, 26, '0'), '0189', 'wxyz'), ${plan.workspaceId(0)}, connector, 'record_only', 0, now(), now()
    FROM unnest(${connectors.slice()}::text[]) WITH ORDINALITY AS chosen (connector, n)`;
}

/** Keys of providers, which no provider ever sees. */
export async function insertProviderKeys(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO own_keys (id, workspace_id, provider_id, name, last_four, sealed, state, zero_data_retention, created_at, tested_at)
    SELECT 'own-' || lpad('', 25, 'a') || n, ${plan.workspaceId(0)}, provider, 'Key ' || n, 'abcd', '', 'active', false, now(), now()
    FROM unnest('{openai,anthropic,mistral}'::text[]) WITH ORDINALITY AS chosen (provider, n)`;
}

export async function insertAudit(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO audit_events (at, event, actor, role, carried_by, workspace_id, target, changes)
    SELECT now() - (${plan.auditRows}::integer - n) * interval '4 minutes',
      (ARRAY['key.created', 'key.updated', 'key.revoked', 'workspace.updated', 'member.invited'])[1 + n % 5],
      'member-' || n % ${plan.owners}::integer || '@bench.test', 'admin', 'session', 'ws-console-' || CASE WHEN n % 5 < 3 THEN 0 ELSE 1 + n % 4 END,
      'key-' || n, jsonb_build_object('name', jsonb_build_object('from', 'service ' || n, 'to', 'service ' || n + 1))
    FROM generate_series(1, ${plan.auditRows}::integer) AS n`;
}
