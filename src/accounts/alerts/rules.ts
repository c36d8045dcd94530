/**
 * The alert rules of a workspace: the thresholds of a limit, the balance or the events that it wants alerts for, by mail, by webhook or
 * both. A threshold is a whole percentage from 1 to 100; one above the limit is refused, since it could never be reached. Admins manage
 * rules.
 */
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import { type WorkspaceId, newAlertsId } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import { type Actor, authorize, overseers, managers } from "../audit/actor.ts";
import { change, type Sources, changedFields, type AuditEvent } from "../audit/change.ts";
import type { Fields } from "../audit/store.ts";
import { DomainError } from "../errors.ts";
import { alertRulesMax } from "../limits.ts";
import { parseAmount } from "../workspaces/fields.ts";
import { alertKinds } from "./kinds.ts";
import type { AlertRuleView, AlertRuleForm, AlertRuleDeleted } from "./schema.ts";
import { selectRule, selectRules, type AlertRule, insertRule, lockAlertsOf, deleteRuleRow } from "./store.ts";

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
  return new DomainError("not_found", `There is no alert rule with the id "${id}"`, { field: "id" });
}

/**
 * Adds a rule. A threshold that is already passed is reported in the next round.
 * @throws DomainError invalid_field, also for a threshold above the limit; conflict with a rule of the same kind (and amount, for a
 *   balance), or with too many rules; forbidden except for admins, super admins and the operator
 */
export async function createRule(
  { actor, workspace, form }: { actor: Actor; workspace: WorkspaceId; form: AlertRuleForm },
  sources: Sources,
): Promise<AlertRuleView> {
  authorize(actor, { roles: managers, action: "set an alert" });
  const parsed = parseForm(form);
  return change(actor, sources, async (tx) => {
    await lockAlertsOf(workspace, tx);
    const present = await selectRules(workspace, tx);
    requirePlace(present, parsed);
    const at = sources.clock.now();
    const rule = { ...parsed, id: newAlertsId("rule", at), workspace, createdAt: new Date(at) };
    await insertRule(rule, tx);
    const changes = changedFields({ before: {}, after: auditedRule(rule) });
    return {
      result: viewRule({ ...rule, armed: true, armings: 1 }),
      event: { event: "alert.rule.created", workspace, target: rule.id, changes },
    };
  });
}

/**
 * Deletes a rule; its alerts stay in the list.
 * @throws DomainError not_found, also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function deleteRule(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: Sources,
): Promise<AlertRuleDeleted> {
  authorize(actor, { roles: managers, action: "delete the rule of an alert" });
  return change(actor, sources, async (tx) => {
    const rule = await findRule(id, tx);
    if (rule.workspace !== workspace || !(await deleteRuleRow(id, tx))) throw noRule(id);
    const before = auditedRule(rule);
    const after = Object.fromEntries(Object.keys(before).map((field) => [field, null]));
    const event: AuditEvent = { event: "alert.rule.deleted", workspace, target: id, changes: changedFields({ before, after }) };
    return { result: { id, deleted: true }, event };
  });
}

function viewRule(rule: AlertRule): AlertRuleView {
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

/** A rule as the audit log stores it. */
function auditedRule({ kind, percents, amount, mail, webhooks }: Omit<AlertRule, "armed" | "armings">): Fields {
  return {
    kind,
    percents: percents.length === 0 ? null : percents.map(String),
    balance_usd: amount === null ? null : formatUsd(amount),
    mail,
    webhooks,
  };
}

const usualPercents = [50, 80, 100];

type ParsedRule = Pick<AlertRule, "kind" | "percents" | "amount" | "mail" | "webhooks">;

function parseForm({ kind, percents, balance_usd: balance, mail = true, webhooks = true }: AlertRuleForm): ParsedRule {
  const { tells } = alertKinds[kind];
  if (percents !== undefined && tells !== "limit") throw refused("percents", `the kind ${kind} has no limit`);
  if (balance !== undefined && tells !== "balance") throw refused("balance_usd", `the kind ${kind} has no amount`);
  if (balance === undefined && tells === "balance") throw refused("balance_usd", "the kind balance needs an amount");
  if (!mail && tells === "event") throw refused("mail", `admins get mails of the kind ${kind} even without a rule`);
  if (!mail && !webhooks) throw refused("webhooks", "a rule without mail and webhooks would reach no one");
  return {
    kind,
    percents: tells === "limit" ? parsePercents(percents ?? usualPercents) : [],
    amount: balance === undefined ? null : parseAmount({ field: "balance_usd", text: balance, decimalsMax: 9 }),
    mail,
    webhooks,
  };
}

function parsePercents(percents: number[]): number[] {
  const outside = percents.find((percent) => percent < 1 || percent > 100);
  if (outside === undefined) return [...new Set(percents)].toSorted((a, b) => a - b);
  throw refused("percents", `${outside} % of a limit is never ${outside < 1 ? "a threshold" : "spent"}: 1 to 100 are possible`);
}

function refused(field: string, cause: string): DomainError {
  return new DomainError("invalid_field", `Cannot set this alert: ${cause}`, { field });
}

/** @throws DomainError conflict */
function requirePlace(present: AlertRule[], { kind, amount }: ParsedRule): void {
  const same = present.find((rule) => rule.kind === kind && rule.amount === amount);
  if (same) {
    throw new DomainError("conflict", `Cannot set this alert: the rule ${same.id} is the same; delete it first`, {
      field: "kind",
    });
  }
  if (present.length < alertRulesMax) return;
  throw new DomainError("conflict", `Cannot set this alert: the workspace has ${alertRulesMax} rules; delete one`);
}
