import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields, type Fields } from "../audit/changes.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { authorize, managers, operatorOnly } from "./authorize.ts";
import { DomainError } from "../errors.ts";
import { parseAmount } from "./fields.ts";
import type { WorkspaceSettings } from "./schema.ts";
import { lockSettings, updateSettings, type Settings } from "./store.ts";

/** The features that `early_access` may list. */
export const earlyAccessFeatures = [
  "embeddings",
  "completions",
  "routing",
  "own_keys",
  "models_page",
  "usage_statements",
] as const;
export type EarlyAccessFeature = (typeof earlyAccessFeatures)[number];
const served: readonly string[] = earlyAccessFeatures;

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
    own_key_fallback: settings.ownKeyFallback,
    early_access: settings.earlyAccess,
  };
}
