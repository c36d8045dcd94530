import type { Actor } from "../../accounts/audit/actor.ts";
import { change } from "../../accounts/audit/change.ts";
import { changedFields } from "../../accounts/audit/changes.ts";
import { dataKeyOf } from "../../accounts/secrets/data-key.ts";
import { authorize, managers } from "../../accounts/workspaces/authorize.ts";
import { Secret } from "../../kernel/secret.ts";
import { ownCheck } from "../models/own-keys/own-routes.ts";
import { audited, lastFourOf, requirePlace, type OwnKeySources } from "./create.ts";
import { requireSwitchedOn, type KeyedWorkspace } from "./feature.ts";
import type { NewOwnKey, OwnKeyView } from "./schema.ts";
import { sealOwnKey } from "./sealed-key.ts";
import { findOwnKey, requireOwnKey, viewOwnKey } from "./show.ts";
import { lockOwnKey, lockOwnKeys, updateSealed } from "./store.ts";
import { requireAccepted, requireProvider } from "./try-key.ts";

/**
 * Puts a new key, which the provider must accept in a test call, into the place of the present one. Calls under way end on the old key.
 * A disabled one is in use again. Launch checks that passed with the old key still count.
 * @throws DomainError as `createOwnKey`; not_found also for another workspace's
 */
export async function replaceOwnKey(
  { actor, workspace, id, form }: { actor: Actor; workspace: KeyedWorkspace; id: string; form: NewOwnKey },
  sources: OwnKeySources,
): Promise<OwnKeyView> {
  authorize(actor, { roles: managers, action: "replace a provider key" });
  requireSwitchedOn(workspace);
  const found = requireOwnKey({ id, workspace: workspace.id, row: await findOwnKey(id, sources.sql) });
  const key = new Secret(form.key);
  const provider = requireProvider(found.provider, sources);
  const { route } = await requireAccepted({ key, provider, workspace: workspace.id }, sources);
  return change(actor, sources, async (tx) => {
    requirePlace(await lockOwnKeys(workspace.id, tx), found.provider, id);
    const row = requireOwnKey({ id, workspace: workspace.id, row: await lockOwnKey(id, tx) });
    const sealed = sealOwnKey(key, row, await dataKeyOf(workspace.id, { sql: tx, keyring: sources.keyring }));
    const checks = [...new Set([...row.checks, ownCheck(route, row)])];
    const zeroDataRetention = form.zero_data_retention ?? row.zeroDataRetention;
    await updateSealed({ id, lastFour: lastFourOf(form.key), sealed, zeroDataRetention, checks, at: sources.clock.now() }, tx);
    const after = await findOwnKey(id, tx);
    const changes = changedFields({ before: audited(row), after: audited(after) });
    const event = { event: "provider.key.replaced", workspace: workspace.id, target: id, changes };
    return { result: viewOwnKey(after, actor), event };
  });
}
