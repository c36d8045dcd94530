/** Reads ids of the loaded data, for the addresses of pages. */
import type postgres from "postgres";
import { randomFrom } from "../../test/support/random.ts";
import * as plan from "./plan.ts";

/** How many ids of a kind are used in turn. */
const idsOfKind = 50;

export interface SampleIds {
  keys: string[];
  generations: string[];
  projects: string[];
  products: string[];
  findings: string[];
  vulnerabilities: string[];
  connections: string[];
  tickets: string[];
  providerKeys: string[];
  topUps: string[];
  alertWebhooks: string[];
  alertRules: string[];
  refusals: string[];
}

/** @param owner only keys and generations of this member; null: of all */
export async function readSampleIds(owner: string | null, sql: postgres.Sql): Promise<SampleIds> {
  const workspace = plan.workspaceId(0);
  const ofOwner = owner === null ? sql`` : sql`AND owner_email = ${owner}`;
  const keys = sql<
    { id: string }[]
  >`SELECT id FROM api_keys WHERE workspace_id = ${workspace} AND revoked_at IS NULL ${ofOwner} ORDER BY id LIMIT ${idsOfKind}`;
  const ids = async (query: PromiseLike<readonly { id: string }[]>): Promise<string[]> => (await query).map(({ id }) => id);
  const last = sql`LIMIT ${idsOfKind}`;
  const found = await ids(
    sql`SELECT id FROM findings WHERE workspace_id = ${workspace} AND status = 'open' ORDER BY hashtext(id) ${last}`,
  );
  return {
    keys: await ids(keys),
    generations: (await Promise.all(randomTimes().map((at) => generationAt({ at, owner }, sql)))).flat(),
    projects: await ids(sql`SELECT id FROM projects WHERE workspace_id = ${workspace} ORDER BY hashtext(id) ${last}`),
    products: await ids(sql`SELECT id FROM products WHERE workspace_id = ${workspace} ORDER BY id ${last}`),
    findings: found,
    vulnerabilities: await ids(sql`
      SELECT name AS id FROM vulnerabilities WHERE id IN (SELECT vulnerability_id FROM findings WHERE id = ANY (${found}::text[]))`),
    connections: await ids(sql`SELECT id FROM connections ORDER BY id ${last}`),
    tickets: await ids(sql`SELECT id FROM tickets WHERE workspace_id = ${workspace} ${ofOwner} ORDER BY id ${last}`),
    providerKeys: await ids(sql`SELECT id FROM own_keys ORDER BY id ${last}`),
    topUps: await ids(sql`SELECT id FROM top_ups ORDER BY id ${last}`),
    alertWebhooks: await ids(sql`SELECT id FROM alert_webhooks ORDER BY id ${last}`),
    alertRules: await ids(sql`SELECT id FROM alert_rules ORDER BY id ${last}`),
    refusals: await ids(sql`SELECT id FROM refused_requests ORDER BY id ${last}`),
  };
}

function randomTimes(): Date[] {
  const chance = randomFrom(1);
  return Array.from({ length: idsOfKind }, () => new Date(Date.now() - chance() * plan.days * 86_400_000));
}

async function generationAt({ at, owner }: { at: Date; owner: string | null }, sql: postgres.Sql): Promise<string[]> {
  const keys =
    owner === null
      ? sql`true`
      : sql`key_id IN (SELECT id FROM api_keys WHERE owner_email = ${owner} AND workspace_id = ${plan.workspaceId(0)})`;
  const rows = await sql<{ id: string }[]>`
    SELECT generation_id AS id FROM generations
    WHERE generation_id >= first_generation_id(${at}) AND workspace_id = ${plan.workspaceId(0)} AND ${keys}
    ORDER BY generation_id LIMIT 1`;
  return rows.map(({ id }) => id);
}
