/** The SQL that loads the security side of the console part, besides what the lists part loads in the same way. */
import type postgres from "postgres";
import * as lists from "../lists/plan.ts";
import * as plan from "./plan.ts";

type Queries = postgres.ISql;

/** Each vulnerability is found by its name. */
export async function insertNames(sql: Queries): Promise<void> {
  await sql`INSERT INTO vulnerability_names (name, vulnerability_id, shared) SELECT name, id, false FROM vulnerabilities`;
}

/**
 * Until the end of the transaction, triggers and foreign keys stay silent, which would take most of the time: what they do for lists
 * follows at once by `addUpLists`. Findings are looked up one by one, as in a scan.
 */
export async function silenceTriggers(sql: Queries): Promise<void> {
  await sql`SELECT set_config('session_replication_role', 'replica', true), set_config('enable_hashjoin', 'off', true)`;
}

/** Everything that is kept for lists, as the triggers of findings keep it. All findings of an issue have its rank. */
export async function addUpLists(sql: Queries): Promise<void> {
  await sql`SELECT set_config('enable_hashjoin', 'on', true)`;
  await sql`ANALYZE findings`;
  await sql`
    INSERT INTO finding_sboms (sbom_id, finding_id, status, false_positive, rank)
    SELECT 'sbom_listsb' || substr(project_id, 11), id, status, false_positive, rank FROM findings`;
  await sql`
    UPDATE projects SET sbom_id = 'sbom_listsb' || substr(id, 11), scan_status = 'completed', last_scanned_at = now()`;
  await sql`
    INSERT INTO finding_buckets (scope_id, depth, rank, slice, status, false_positive, amount)
    SELECT scope_id, depth, rank, slice, status, false_positive, sum(amount)
    FROM (
      SELECT workspace_id, product_id, project_id, rank, status, false_positive, left(id, 13) AS finest, count(*) AS amount
      FROM findings GROUP BY workspace_id, product_id, project_id, rank, status, false_positive, finest
    ) AS counted
    CROSS JOIN LATERAL (VALUES (workspace_id), (product_id), (project_id)) AS scopes (scope_id)
    CROSS JOIN LATERAL (
      VALUES (0::smallint, ''), (1, left(finest, 7)), (2, left(finest, 9)), (3, left(finest, 10)), (4, finest)
    ) AS slices (depth, slice)
    WHERE scope_id IS NOT NULL
    GROUP BY scope_id, depth, rank, slice, status, false_positive`;
  await sql`
    INSERT INTO scope_vulnerabilities
      (scope_id, vulnerability_id, workspace_id, product_id, name, rank, ecosystems, findings, projects, top_finding)
    SELECT project_id, vulnerability_id, min(workspace_id), min(product_id), vulnerabilities.name, max(findings.rank),
      bit_or(ecosystem_bit(ecosystem)), count(*), 1, min(findings.id)
    FROM findings JOIN packages ON packages.id = package_id JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id
    WHERE live GROUP BY project_id, vulnerability_id, vulnerabilities.name`;
  await sql`
    INSERT INTO scope_vulnerabilities (scope_id, vulnerability_id, name, rank, ecosystems, findings, projects, top_finding)
    SELECT wider.id, vulnerability_id, name, max(rank), bit_or(ecosystems), sum(findings), sum(projects), min(top_finding)
    FROM scope_vulnerabilities CROSS JOIN LATERAL (VALUES (workspace_id), (product_id)) AS wider (id)
    WHERE wider.id IS NOT NULL GROUP BY wider.id, vulnerability_id, name`;
  await sql`
    INSERT INTO vulnerability_buckets (scope_id, depth, rank, slice, ecosystems, amount)
    SELECT scope_id, depth, rank, slice, ecosystems, count(*)
    FROM scope_vulnerabilities
    CROSS JOIN LATERAL (VALUES (0::smallint, ''), (1, left(name, 6)), (2, left(name, 8)), (3, left(name, 10))) AS slices (depth, slice)
    GROUP BY scope_id, depth, rank, slice, ecosystems`;
}

export async function insertComponents(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO sbom_components (sbom_id, position, ref, type, name, version, purl, package_id, relation, licenses)
    SELECT sboms.id, n, 'ref-' || n, 'library', packages.name, '1.' || n, 'pkg:generic/' || packages.name || '@1.' || n, packages.id,
      'direct', '{MIT}'
    FROM projects JOIN sboms ON sboms.id = projects.sbom_id CROSS JOIN generate_series(1, ${plan.components}::integer) AS n
    JOIN packages ON packages.id = 1 + (hashtext(sboms.id)::bigint + 2147483648 + n) % ${lists.packages}::integer`;
}

/** As an upload counts them, and as an import leaves the ecosystems. */
export async function insertEcosystems(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO sbom_ecosystems (sbom_id, ecosystem, components, unreadable)
    SELECT sbom_id, ecosystem, count(*), 0 FROM sbom_components JOIN packages ON packages.id = package_id GROUP BY 1, 2`;
  await sql`
    INSERT INTO advisory_ecosystems (ecosystem, imported_at, newest_record)
    SELECT DISTINCT ecosystem, now(), now() FROM packages ON CONFLICT DO NOTHING`;
}

/** Each finding was made by a scan, and every twentieth was decided about. */
export async function insertHistory(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO finding_events (finding_id, project_id, at, actor, cause, changes)
    SELECT id, project_id, first_seen, 'scanner', 'scan', '{"status":{"from":null,"to":"open"}}' FROM findings`;
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

/** Payments of two years, the webhooks that hear of them, which nothing ever calls, and rules of alerts. */
export async function insertPayments(sql: Queries): Promise<void> {
  await sql`INSERT INTO top_up_settings (workspace_id) VALUES (${plan.workspaceId(0)})`;
  await sql`
    INSERT INTO top_ups (id, workspace_id, kind, state, amount_nano, received_nano, tried_at, made_by, created_at, ended_at)
    SELECT 'top-' || lpad(n::text, 26, '0'), ${plan.workspaceId(0)}, 'automatic', 'credited', amount, amount, at, 'weir', at, at
    FROM generate_series(1, 200) AS n, LATERAL (SELECT 50000000000 AS amount, now() - n * interval '3 days' AS at) AS paid`;
  await sql`
    INSERT INTO alert_webhooks (id, workspace_id, name, format, url, sealed, created_at)
    SELECT 'awh-' || lpad(n::text, 26, '0'), ${plan.workspaceId(0)}, '', 'weir', 'https://hooks.bench.test/' || n, '', now() FROM generate_series(1, 3) AS n`;
  await sql`
    INSERT INTO alert_rules (id, workspace_id, kind, percents, amount_nano, mail, webhooks, created_at)
    SELECT 'alr-' || lpad(n::text, 26, '0'), ${plan.workspaceId(0)}, 'balance', '{}', n * 1000000000::bigint, true, false, now() FROM generate_series(1, 3) AS n`;
}

/** The newest refused calls of a workspace, as many as it keeps. */
export async function insertRefusals(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO refused_requests (id, workspace_id, key_id, at, endpoint, status, code, message)
    SELECT 'req-' || translate(lpad(n::text, 26, '0'), '0189', 'wxyz'), ${plan.workspaceId(0)}, keys.id, now() - (201 - n) * interval '1 minute', 'chat', 429,
      'rate_limited', 'Too many requests'
    FROM generate_series(1, 200) AS n, (SELECT id FROM api_keys WHERE workspace_id = ${plan.workspaceId(0)} ORDER BY id LIMIT 1) AS keys`;
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
