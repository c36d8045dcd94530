/**
 * Workspaces: created, found by id or exact name, set, and viewed. A name must not look like an id or a special path, because requests and
 * paths name a workspace by either. Only the operator decides on the switch and early access; members see them. A new workspace has no
 * credit and no limit.
 */
import type { Queries } from "../../backing/backing.ts";
import type { Clock, Month } from "../../kernel/clock.ts";
import { newWorkspaceId, type WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { type Actor, authorize, operatorOnly, managers } from "../audit/actor.ts";
import { change, type Sources, changedFields } from "../audit/change.ts";
import type { Fields } from "../audit/store.ts";
import { DomainError } from "../errors.ts";
import { leftOf, parseAmount } from "./fields.ts";
import type { WorkspaceSettings, WorkspaceView } from "./schema.ts";
import { insertWorkspace, selectWorkspaces, type WorkspaceRow, lockSettings, updateSettings, type Settings } from "./store.ts";

/**
 * Creates a workspace: enabled, with fallbacks, other settings off, no spend limit, no credit.
 * @throws DomainError conflict for a name that exists
 */
export async function createWorkspace(
  { actor, name: typed }: { actor: Actor; name: string },
  sources: Sources,
): Promise<{ id: WorkspaceId; name: string }> {
  authorize(actor, { roles: operatorOnly, action: "create a workspace" });
  const name = checkedName(typed);
  return change(actor, sources, async (tx) => {
    const at = sources.clock.now();
    const id = newWorkspaceId(at);
    if (!(await insertWorkspace({ id, name, at }, tx))) {
      throw new DomainError("conflict", `There is a workspace named "${name}" already`, { field: "name" });
    }
    const changes = changedFields({ before: {}, after: { name } });
    return { result: { id, name }, event: { event: "workspace.created", workspace: id, target: id, changes } };
  });
}

/**
 * Finds a workspace by id or exact name, with its spend of this month.
 * @throws DomainError not_found
 */
export async function findWorkspace(idOrName: string, { sql, clock }: { sql: Queries; clock: Clock }): Promise<WorkspaceRow> {
  const [row] = await selectWorkspaces({ workspace: idOrName, now: clock.now() }, sql);
  if (!row) {
    throw new DomainError("not_found", `There is no workspace with the id or name "${idOrName}"`, { field: "workspace" });
  }
  return row;
}

/** The features that `early_access` may list. */
export const earlyAccessFeatures = [
  "embeddings",
  "completions",
  "routing",
  "own_keys",
  "models_page",
  "usage_statements",
  "people",
] as const;
export type EarlyAccessFeature = (typeof earlyAccessFeatures)[number];

/** What the operator decides about a workspace, and its members only see. */
const ofTheOperator = ["enabled", "early_access"];

/**
 * Changes the given settings of a workspace. Records nothing if no value changed.
 * @throws DomainError forbidden except for admins, super admins and the operator, and for `enabled` and `early_access` except for the operator
 */
export async function setWorkspace(
  { actor, workspace, settings }: { actor: Actor; workspace: WorkspaceId; settings: WorkspaceSettings },
  sources: Sources,
): Promise<void> {
  authorize(actor, { roles: managers, action: "change the settings of a workspace" });
  const given = parseSettings(settings);
  return change(actor, sources, async (tx) => {
    const before = await lockSettings(workspace, tx);
    if (!before) throw new DomainError("not_found", `There is no workspace "${workspace}"`, { field: "workspace" });
    const after = { ...before, ...given };
    const changes = changedFields({ before: audited(before), after: audited(after) });
    if (Object.keys(changes).length === 0) return { result: undefined, event: null };
    const reserved = ofTheOperator.find((field) => field in changes);
    if (reserved !== undefined) authorize(actor, { roles: operatorOnly, action: `change "${reserved}" of a workspace` });
    await updateSettings(workspace, after, tx);
    return { result: undefined, event: { event: "workspace.updated", workspace, target: workspace, changes } };
  });
}

/** Credit in the counters: available = balance − reserved. */
interface Credit {
  balance: NanoUsd;
  reserved: NanoUsd;
  available: NanoUsd;
}

/** @param credit null: the counters cannot answer, and the ledger gives the balance */
export function viewWorkspace(row: WorkspaceRow, { month, credit }: { month: Month; credit: Credit | null }): WorkspaceView {
  return {
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    spend_limit_usd: row.spendLimit === null ? null : formatUsd(row.spendLimit),
    daily_spend_limit_usd: row.dailySpendLimit === null ? null : formatUsd(row.dailySpendLimit),
    fallbacks: row.fallbacks,
    zero_data_retention: row.zeroDataRetention,
    prompt_storage: row.promptStorage,
    prompt_retention_days: row.promptRetentionDays,
    cost_in_answers: row.costInAnswers,
    idempotent_replay: row.idempotentReplay,
    own_key_fallback: row.ownKeyFallback,
    early_access: row.earlyAccess,
    ...viewCredit(row.balance, credit),
    month,
    month_spent_usd: formatUsd(row.monthSpent),
    day_spent_usd: row.daySpent === null ? null : formatUsd(row.daySpent),
    month_left_usd: leftOf({ limit: row.spendLimit, spent: row.monthSpent, reserved: credit?.reserved ?? null }),
    day_left_usd: leftOf({ limit: row.dailySpendLimit, spent: row.daySpent, reserved: credit?.reserved ?? null }),
  };
}

export function viewCredit(
  ledgerBalance: NanoUsd,
  credit: Credit | null,
): Pick<WorkspaceView, "balance_usd" | "reserved_usd" | "available_usd"> {
  return {
    balance_usd: formatUsd(credit?.balance ?? ledgerBalance),
    reserved_usd: credit && formatUsd(credit.reserved),
    available_usd: credit && formatUsd(credit.available),
  };
}

/** Names that would look like an id or a special path. */
const unusable = [
  { form: /^$/, cause: "it is empty" },
  { form: /^ws-[a-z2-7]{26}$/, cause: "it has the form of an id" },
  { form: /^\.{1,2}$/, cause: "it has a meaning in paths" },
];

function checkedName(typed: string): string {
  const name = typed.trim();
  const cause = unusable.find(({ form }) => form.test(name))?.cause;
  if (cause === undefined) return name;
  throw new DomainError("invalid_field", `Cannot name a workspace "${name}": ${cause}`, { field: "name" });
}

const served: readonly string[] = earlyAccessFeatures;

function parseSettings(settings: WorkspaceSettings): Partial<Settings> {
  const unserved = settings.early_access?.find((feature) => !served.includes(feature));
  if (unserved !== undefined) {
    throw new DomainError("invalid_field", `${unserved} is not available in this version`, { field: "early_access" });
  }
  return {
    ...(settings.enabled !== undefined && { enabled: settings.enabled }),
    ...(settings.spend_limit_usd !== undefined && { spendLimit: parseLimit("spend_limit_usd", settings.spend_limit_usd) }),
    ...(settings.daily_spend_limit_usd !== undefined && {
      dailySpendLimit: parseLimit("daily_spend_limit_usd", settings.daily_spend_limit_usd),
    }),
    ...(settings.fallbacks !== undefined && { fallbacks: settings.fallbacks }),
    ...(settings.zero_data_retention !== undefined && { zeroDataRetention: settings.zero_data_retention }),
    ...(settings.prompt_storage !== undefined && { promptStorage: settings.prompt_storage }),
    ...(settings.prompt_retention_days !== undefined && { promptRetentionDays: settings.prompt_retention_days }),
    ...(settings.cost_in_answers !== undefined && { costInAnswers: settings.cost_in_answers }),
    ...(settings.idempotent_replay !== undefined && { idempotentReplay: settings.idempotent_replay }),
    ...(settings.own_key_fallback !== undefined && { ownKeyFallback: settings.own_key_fallback }),
    ...(settings.early_access !== undefined && { earlyAccess: settings.early_access }),
  };
}

function parseLimit(field: "spend_limit_usd" | "daily_spend_limit_usd", text: string | null): NanoUsd | null {
  return text === null ? null : parseAmount({ field, text, decimalsMax: 9 });
}

/** Settings by their names in the control API. */
function audited(settings: Settings): Fields {
  return {
    enabled: settings.enabled,
    spend_limit_usd: settings.spendLimit === null ? null : formatUsd(settings.spendLimit),
    daily_spend_limit_usd: settings.dailySpendLimit === null ? null : formatUsd(settings.dailySpendLimit),
    fallbacks: settings.fallbacks,
    zero_data_retention: settings.zeroDataRetention,
    prompt_storage: settings.promptStorage,
    prompt_retention_days: settings.promptRetentionDays,
    cost_in_answers: settings.costInAnswers,
    idempotent_replay: settings.idempotentReplay,
    own_key_fallback: settings.ownKeyFallback,
    early_access: settings.earlyAccess,
  };
}
