import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources } from "../../accounts/audit/change.ts";
import { changedFields, type Fields } from "../../accounts/audit/changes.ts";
import { DomainError } from "../../accounts/errors.ts";
import { dataKeyOf } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { authorize, managers } from "../../accounts/workspaces/authorize.ts";
import { newOwnKeyId } from "../../kernel/ids.ts";
import { Secret } from "../../kernel/secret.ts";
import { ownKeyShownCharactersMin, ownKeysListedMax, ownKeysPerWorkspaceMax } from "../limits.ts";
import { ownCheck } from "../models/own-keys/own-routes.ts";
import { requireSwitchedOn, type KeyedWorkspace } from "./feature.ts";
import type { OwnKeyForm, OwnKeyView } from "./schema.ts";
import { sealOwnKey } from "./sealed-key.ts";
import { findOwnKey, masked, viewOwnKey } from "./show.ts";
import { insertOwnKey, lockOwnKeys, selectOwnKeys, type OwnKeyRow } from "./store.ts";
import { requireAccepted, requireProvider, type TrySources } from "./try-key.ts";

export type OwnKeySources = Sources & TrySources & { keyring: Keyring };

/**
 * Stores a workspace's own key for a provider, sealed, after one test call of at most 16 output tokens on the provider's cheapest chat model.
 * @throws DomainError invalid_field; forbidden except for admins, super admins and the operator; conflict where own keys are off, there is
 *   one for the provider, or the provider refuses it; unavailable if the provider does not answer
 * @throws LimitReachedError with too many tests in an hour
 */
export async function createOwnKey(
  { actor, workspace, form }: { actor: Actor; workspace: KeyedWorkspace; form: OwnKeyForm },
  sources: OwnKeySources,
): Promise<OwnKeyView> {
  authorize(actor, { roles: managers, action: "store a provider key" });
  requireSwitchedOn(workspace);
  const provider = requireProvider(form.provider, sources);
  const present = { workspace: workspace.id, limit: ownKeysListedMax };
  requirePlace(await selectOwnKeys(present, sources.sql), provider.id);
  const key = new Secret(form.key);
  const { route } = await requireAccepted({ key, provider, workspace: workspace.id }, sources);
  return change(actor, sources, async (tx) => {
    requirePlace(await lockOwnKeys(workspace.id, tx), provider.id);
    const at = sources.clock.now();
    const owner = { workspace: workspace.id, id: newOwnKeyId(at), provider: provider.id };
    const sealed = sealOwnKey(key, owner, await dataKeyOf(workspace.id, { sql: tx, keyring: sources.keyring }));
    const zeroDataRetention = form.zero_data_retention ?? false;
    const name = form.name?.trim() || `${provider.name} key`;
    const checks = [ownCheck(route, owner)];
    await insertOwnKey({ ...owner, name, lastFour: lastFourOf(form.key), sealed, zeroDataRetention, checks, at }, tx);
    const row = await findOwnKey(owner.id, tx);
    const changes = changedFields({ before: {}, after: audited(row) });
    const event = { event: "provider.key.created", workspace: workspace.id, target: owner.id, changes };
    return { result: viewOwnKey(row, actor), event };
  });
}

/** A short key would be shown by half. */
export function lastFourOf(key: string): string | null {
  return key.length < ownKeyShownCharactersMin ? null : key.slice(-4);
}

export function audited(row: OwnKeyRow): Fields {
  const { provider, name, state, zeroDataRetention } = row;
  return { provider, name, masked: masked(row), state, zero_data_retention: zeroDataRetention };
}

/** @throws DomainError conflict */
export function requirePlace(rows: readonly OwnKeyRow[], provider: string, except?: string): void {
  const others = rows.filter(({ id }) => id !== except);
  const present = others.find((row) => row.provider === provider && row.state !== "disabled");
  if (present) {
    throw new DomainError("conflict", `The workspace has a key for "${provider}" already, ${present.id}: replace or disable it`);
  }
  if (others.length < ownKeysPerWorkspaceMax) return;
  throw new DomainError("conflict", `A workspace has at most ${ownKeysPerWorkspaceMax} own provider keys: delete one`);
}
