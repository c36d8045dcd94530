import type { Actor } from "../audit/actor.ts";
import type { Fields } from "../audit/changes.ts";
import { DomainError } from "../errors.ts";
import { authorize, overseers } from "../workspaces/authorize.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import { selectRule, selectRules, type AlertRule } from "./rule-store.ts";
import type { AlertRuleView } from "./schema.ts";

/** In order of creation. @throws DomainError forbidden for members */
export async function listRules(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId },
  sql: Queries,
): Promise<AlertRuleView[]> {
  authorize(actor, { roles: overseers, action: "see the rules of alerts" });
  return (await selectRules(workspace, sql)).map(viewRule);
}

/** Finds a rule in any workspace. @throws DomainError not_found */
export async function findRule(id: string, sql: Queries): Promise<AlertRule> {
  const rule = await selectRule(id, sql);
  if (rule) return rule;
  throw noRule(id);
}

export function noRule(id: string): DomainError {
  return new DomainError("not_found", `There is no rule of alerts with the id "${id}"`, { field: "id" });
}

export function viewRule(rule: AlertRule): AlertRuleView {
  return {
    id: rule.id,
    workspace_id: rule.workspace,
    kind: rule.kind,
    percents: rule.percents,
    balance_usd: rule.amount === null ? null : formatUsd(rule.amount),
    armed: rule.armed,
    mail: rule.mail,
    webhooks: rule.webhooks,
    created_at: isoTime(rule.createdAt.getTime()),
  };
}

/** As the audit log has it. */
export function auditedRule({ kind, percents, amount, mail, webhooks }: Omit<AlertRule, "armed" | "armings">): Fields {
  return {
    kind,
    percents: percents.length === 0 ? null : percents.map(String),
    balance_usd: amount === null ? null : formatUsd(amount),
    mail,
    webhooks,
  };
}
