import { arrayText } from "../../backing/sql-text.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { AlertKind } from "./kinds.ts";

export interface AlertRule {
  id: string;
  workspace: WorkspaceId;
  kind: AlertKind;
  percents: number[];
  amount: NanoUsd | null;
  mail: boolean;
  webhooks: boolean;
  armed: boolean;
  armings: number;
  createdAt: Date;
}

const columns = (sql: Queries) => sql`
  id, workspace_id AS workspace, kind, array_to_json(percents) AS percents, amount_nano AS amount, mail, webhooks, armed, armings,
  created_at AS "createdAt"`;

/** In order of creation. */
export async function selectRules(workspace: WorkspaceId, sql: Queries): Promise<AlertRule[]> {
  return sql<AlertRule[]>`SELECT ${columns(sql)} FROM alert_rules WHERE workspace_id = ${workspace} ORDER BY id`;
}

export async function selectRule(id: string, sql: Queries): Promise<AlertRule | undefined> {
  const [row] = await sql<AlertRule[]>`SELECT ${columns(sql)} FROM alert_rules WHERE id = ${id}`;
  return row;
}

/** Reads the rules and locks them until the transaction ends: one process at a time compares a workspace. */
export async function lockRules(workspace: WorkspaceId, tx: Transaction): Promise<AlertRule[]> {
  return tx<AlertRule[]>`SELECT ${columns(tx)} FROM alert_rules WHERE workspace_id = ${workspace} ORDER BY id FOR UPDATE`;
}

/** Locks the workspace's rules and webhooks against additions until the transaction ends. */
export async function lockAlertsOf(workspace: WorkspaceId, tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`alerts of ${workspace}`}, 0))`;
}

/** Its workspace is compared in the next round. */
export async function insertRule(rule: Omit<AlertRule, "armed" | "armings">, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO alert_rules (id, workspace_id, kind, percents, amount_nano, mail, webhooks, created_at)
    VALUES (${rule.id}, ${rule.workspace}, ${rule.kind}, ${arrayText(rule.percents, (percent) => percent)}::text::smallint[],
      ${rule.amount}, ${rule.mail}, ${rule.webhooks}, ${rule.createdAt})`;
  await tx`DELETE FROM alert_watches WHERE workspace_id = ${rule.workspace}`;
}

/** @returns whether it was there */
export async function deleteRuleRow(id: string, tx: Transaction): Promise<boolean> {
  return (await tx`DELETE FROM alert_rules WHERE id = ${id}`).count > 0;
}

/** Arming counts, so that what the rule tells next is another alert. */
export async function updateArmed({ id, armed }: Pick<AlertRule, "id" | "armed">, tx: Transaction): Promise<void> {
  await tx`UPDATE alert_rules SET armed = ${armed}, armings = armings + ${armed ? 1 : 0} WHERE id = ${id}`;
}
