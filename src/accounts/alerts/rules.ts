/**
 * The alert rules of a workspace: the thresholds of a limit, the balance or the events that it wants alerts for, by mail, by webhook or
 * both. A rule watches all keys or members, or a single one. A threshold is a whole percentage from 1 to 100; one above the limit is
 * refused, since it could never be reached. A rule keeps its kind. Of two edits at once the later one counts, field by field. Admins manage
 * rules.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import { type WorkspaceId, newAlertsId } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import { type Actor, authorize, overseers, managers } from "../audit/actor.ts";
import { change, type Sources, changedFields, type AuditEvent } from "../audit/change.ts";
import type { Fields } from "../audit/store.ts";
import { DomainError } from "../errors.ts";
import { alertRulesMax } from "../limits.ts";
import { canonicalEmail, parseAmount } from "../workspaces/fields.ts";
import { alertKinds, watchedBy } from "./kinds.ts";
import type { AlertRuleView, AlertRuleForm, AlertRuleEdit, AlertRuleDeleted } from "./schema.ts";
import * as store from "./store.ts";

/** In order of creation. @throws DomainError forbidden for members */
export async function listRules(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId },
  sql: Queries,
): Promise<AlertRuleView[]> {
  authorize(actor, { roles: overseers, action: "see the rules of alerts" });
  return (await store.selectRules(workspace, sql)).map(viewRule);
}

/** Finds a rule in any workspace. @throws DomainError not_found */
export async function findRule(id: string, sql: Queries): Promise<store.AlertRule> {
  const rule = await store.selectRule(id, sql);
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
    await store.lockAlertsOf(workspace, tx);
    const present = await store.selectRules(workspace, tx);
    requirePlace(present, parsed);
    await requireWatched({ workspace, ...parsed }, tx);
    const at = sources.clock.now();
    const rule = { ...parsed, id: newAlertsId("rule", at), workspace, createdAt: new Date(at) };
    await store.insertRule(rule, tx);
    const changes = changedFields({ before: {}, after: auditedRule(rule) });
    return {
      result: viewRule({ ...rule, armed: true, armings: 1 }),
      event: { event: "alert.rule.created", workspace, target: rule.id, changes },
    };
  });
}

/**
 * Changes a rule; omitted fields stay. A threshold that is new and already passed is reported in the next round, and a balance with another
 * amount is reported anew. Setting the same values records nothing.
 * @throws DomainError as `createRule` does; not_found, also for another workspace's
 */
export async function editRule(
  { actor, workspace, id, edit }: { actor: Actor; workspace: WorkspaceId; id: string; edit: AlertRuleEdit },
  sources: Sources,
): Promise<AlertRuleView> {
  authorize(actor, { roles: managers, action: "change an alert" });
  return change(actor, sources, async (tx) => {
    await store.lockAlertsOf(workspace, tx);
    const before = await findRule(id, tx);
    if (before.workspace !== workspace) throw noRule(id);
    const parsed = parseForm({ ...formOf(before), ...edit });
    const changes = changedFields({ before: auditedRule(before), after: auditedRule({ ...before, ...parsed }) });
    if (Object.keys(changes).length === 0) return { result: viewRule(before), event: null };
    const others = (await store.selectRules(workspace, tx)).filter((rule) => rule.id !== id);
    requirePlace(others, parsed);
    await requireWatched({ workspace, ...parsed }, tx);
    await store.updateRule({ ...parsed, id, workspace }, tx);
    const event: AuditEvent = { event: "alert.rule.updated", workspace, target: id, changes };
    return { result: viewRule(await findRule(id, tx)), event };
  });
}

/** The form that would create the rule. */
function formOf({ kind, subject, percents, amount, mail, webhooks }: store.AlertRule): AlertRuleForm {
  return {
    kind,
    mail,
    webhooks,
    ...(subject !== "" && { only: subject }),
    ...(percents.length > 0 && { percents }),
    ...(amount !== null && { balance_usd: formatUsd(amount) }),
  };
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
    if (rule.workspace !== workspace || !(await store.deleteRuleRow(id, tx))) throw noRule(id);
    const before = auditedRule(rule);
    const after = Object.fromEntries(Object.keys(before).map((field) => [field, null]));
    const event: AuditEvent = { event: "alert.rule.deleted", workspace, target: id, changes: changedFields({ before, after }) };
    return { result: { id, deleted: true }, event };
  });
}

function viewRule(rule: store.AlertRule): AlertRuleView {
  return {
    id: rule.id,
    workspace_id: rule.workspace,
    kind: rule.kind,
    percents: rule.percents,
    only: rule.subject === "" ? null : rule.subject,
    balance_usd: rule.amount === null ? null : formatUsd(rule.amount),
    armed: rule.armed,
    mail: rule.mail,
    webhooks: rule.webhooks,
    created_at: isoTime(rule.createdAt.getTime()),
  };
}

/** A rule as the audit log stores it. */
function auditedRule({ kind, subject, percents, amount, mail, webhooks }: Omit<store.AlertRule, "armed" | "armings">): Fields {
  return {
    kind,
    only: subject === "" ? null : subject,
    percents: percents.length === 0 ? null : percents.map(String),
    balance_usd: amount === null ? null : formatUsd(amount),
    mail,
    webhooks,
  };
}

const usualPercents = [50, 80, 100];

type ParsedRule = Pick<store.AlertRule, "kind" | "subject" | "percents" | "amount" | "mail" | "webhooks">;

function parseForm({ kind, percents, only, balance_usd: balance, mail = true, webhooks = true }: AlertRuleForm): ParsedRule {
  const { tells } = alertKinds[kind];
  const of = watchedBy(kind);
  const subject = only?.trim() ?? "";
  if (subject !== "" && of === null) throw refused("only", `the kind ${kind} watches neither keys nor members`);
  if (percents !== undefined && tells !== "limit") throw refused("percents", `the kind ${kind} has no limit`);
  if (balance !== undefined && tells !== "balance") throw refused("balance_usd", `the kind ${kind} has no amount`);
  if (balance === undefined && tells === "balance") throw refused("balance_usd", "the kind balance needs an amount");
  if (!mail && tells === "event") throw refused("mail", `admins get mails of the kind ${kind} even without a rule`);
  if (!mail && !webhooks) throw refused("webhooks", "a rule without mail and webhooks would reach no one");
  return {
    kind,
    subject: of === "member" ? canonicalEmail(subject) : subject,
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
function requirePlace(others: store.AlertRule[], { kind, subject, amount }: ParsedRule): void {
  const same = others.find((rule) => rule.kind === kind && rule.subject === subject && rule.amount === amount);
  if (same) {
    throw new DomainError("conflict", `Cannot set this alert: the rule ${same.id} watches the same; change that one`, {
      field: "kind",
    });
  }
  if (others.length < alertRulesMax) return;
  throw new DomainError("conflict", `Cannot set this alert: the workspace has ${alertRulesMax} rules; delete one`);
}

/** @throws DomainError invalid_field for a key or a member that the workspace does not have */
async function requireWatched(
  { workspace, kind, subject }: Pick<store.AlertRule, "workspace" | "kind" | "subject">,
  tx: Transaction,
): Promise<void> {
  const of = watchedBy(kind);
  if (of === null || subject === "" || (await store.isWatchable({ workspace, of, subject }, tx))) return;
  throw refused("only", `the workspace has no active ${of} "${subject}"`);
}
