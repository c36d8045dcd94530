/**
 * A workspace's own keys for providers: create, replace, disable, delete, list. A provider has one key in use at a time, and bills the
 * workspace; Weir reserves and charges nothing for its calls (models/candidate.ts says which routes serve). A key is stored after one test
 * call that the provider accepts, sealed under the workspace's data key, and no view shows it. A change applies to new calls within 30 s,
 * which is how long records and opened keys are kept; calls under way end on the old key. After `disable` and `delete` the provider is
 * called with the service's key again, on credit. If `own_keys` is switched off, stored keys stay and are not used. Zero data retention is
 * the workspace's statement about its own account: what the catalog says of a provider holds only for the service's account.
 */
import { type Actor, authorize, managers } from "../../accounts/audit/actor.ts";
import { change, type Sources, changedFields, type AuditEvent } from "../../accounts/audit/change.ts";
import type { Fields } from "../../accounts/audit/store.ts";
import { DomainError } from "../../accounts/errors.ts";
import { dataKeyOf } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import { newOwnKeyId, type WorkspaceId } from "../../kernel/ids.ts";
import { Secret } from "../../kernel/secret.ts";
import { ownKeyShownCharactersMin, ownKeysListedMax, ownKeysPerWorkspaceMax } from "../limits.ts";
import { ownCheck } from "../models/candidate.ts";
import type { OwnKeyForm, OwnKeyView, NewOwnKey, OwnKeyDeleted } from "./schema.ts";
import { sealOwnKey } from "./sealed-key.ts";
import * as store from "./store.ts";
import { requireAccepted, requireProvider, type TrySources } from "./try-key.ts";

export type OwnKeySources = Sources & TrySources & { keyring: Keyring };

/**
 * Stores a workspace's own key for a provider, sealed, after one test call of at most 16 output tokens on the provider's cheapest chat model.
 * @throws DomainError invalid_field; forbidden except for admins, super admins and the operator; conflict where own keys are off, the
 *   provider has one already, or it refuses this one; unavailable if the provider does not answer
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
  requirePlace(await store.selectOwnKeys(present, sources.sql), provider.id);
  const key = new Secret(form.key);
  const { route } = await requireAccepted({ key, provider, workspace: workspace.id }, sources);
  return change(actor, sources, async (tx) => {
    requirePlace(await store.lockOwnKeys(workspace.id, tx), provider.id);
    const at = sources.clock.now();
    const owner = { workspace: workspace.id, id: newOwnKeyId(at), provider: provider.id };
    const sealed = sealOwnKey(key, owner, await dataKeyOf(workspace.id, { sql: tx, keyring: sources.keyring }));
    const zeroDataRetention = form.zero_data_retention ?? false;
    const name = form.name?.trim() || `${provider.name} key`;
    const checks = [ownCheck(route, owner)];
    await store.insertOwnKey({ ...owner, name, lastFour: lastFourOf(form.key), sealed, zeroDataRetention, checks, at }, tx);
    const row = await findOwnKey(owner.id, tx);
    const changes = changedFields({ before: {}, after: audited(row) });
    const event: AuditEvent = { event: "provider.key.created", workspace: workspace.id, target: owner.id, changes };
    return { result: viewOwnKey(row, actor), event };
  });
}

/** @throws DomainError conflict */
export function requirePlace(rows: readonly store.OwnKeyRow[], provider: string, except?: string): void {
  const others = rows.filter(({ id }) => id !== except);
  const present = others.find((row) => row.provider === provider && row.state !== "disabled");
  if (present) {
    throw new DomainError("conflict", `The workspace has a key for "${provider}" already, ${present.id}: replace or disable it`);
  }
  if (others.length < ownKeysPerWorkspaceMax) return;
  throw new DomainError("conflict", `A workspace has at most ${ownKeysPerWorkspaceMax} own provider keys: delete one`);
}

/**
 * Replaces the current key by a new one, which the provider must accept in a test call. Calls under way end on the old key. A disabled key
 * is in use again. Launch checks that passed with the old key still count.
 * @throws DomainError as `createOwnKey`; not_found even for another workspace's
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
    requirePlace(await store.lockOwnKeys(workspace.id, tx), found.provider, id);
    const row = requireOwnKey({ id, workspace: workspace.id, row: await store.lockOwnKey(id, tx) });
    const sealed = sealOwnKey(key, row, await dataKeyOf(workspace.id, { sql: tx, keyring: sources.keyring }));
    const checks = [...new Set([...row.checks, ownCheck(route, row)])];
    const zeroDataRetention = form.zero_data_retention ?? row.zeroDataRetention;
    await store.updateSealed(
      { id, lastFour: lastFourOf(form.key), sealed, zeroDataRetention, checks, at: sources.clock.now() },
      tx,
    );
    const after = await findOwnKey(id, tx);
    const changes = changedFields({ before: audited(row), after: audited(after) });
    const event: AuditEvent = { event: "provider.key.replaced", workspace: workspace.id, target: id, changes };
    return { result: viewOwnKey(after, actor), event };
  });
}

/**
 * Keeps the key but stops using it: from now on the provider is called with the service's key, on credit. Records nothing if it is disabled
 * already.
 * @throws DomainError not_found even for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function disableOwnKey(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: Sources,
): Promise<OwnKeyView> {
  authorize(actor, { roles: managers, action: "disable a provider key" });
  return change(actor, sources, async (tx) => {
    const row = requireOwnKey({ id, workspace, row: await store.lockOwnKey(id, tx) });
    const after = { ...row, state: "disabled" as const };
    const result = viewOwnKey(after, actor);
    if (row.state === "disabled") return { result, event: null };
    await store.updateState(after, tx);
    const changes = changedFields({ before: { state: row.state }, after: { state: after.state } });
    return { result, event: { event: "provider.key.disabled", workspace, target: id, changes } };
  });
}

/**
 * Deletes the key, irrevocably: from now on the provider is called with the service's key, on credit.
 * @throws DomainError not_found even for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function deleteOwnKey(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: Sources,
): Promise<OwnKeyDeleted> {
  authorize(actor, { roles: managers, action: "delete a provider key" });
  return change(actor, sources, async (tx) => {
    requireOwnKey({ id, workspace, row: await store.lockOwnKey(id, tx) });
    await store.deleteOwnKeyRow(id, tx);
    const event: AuditEvent = { event: "provider.key.deleted", workspace, target: id, changes: {} };
    return { result: { id, deleted: true as const }, event };
  });
}

/** Finds an own key in any workspace. @throws DomainError not_found */
export async function findOwnKey(id: string, sql: Queries): Promise<store.OwnKeyRow> {
  const row = await store.selectOwnKey(id, sql);
  return requireOwnKey({ id, workspace: row?.workspace ?? "", row });
}

/** @throws DomainError not_found even for one of another workspace, so that existing ones stay hidden */
export function requireOwnKey({
  id,
  workspace,
  row,
}: {
  id: string;
  workspace: WorkspaceId;
  row: store.OwnKeyRow | undefined;
}): store.OwnKeyRow {
  if (row?.workspace === workspace) return row;
  throw noOwnKey(id);
}

export function noOwnKey(id: string): DomainError {
  return new DomainError("not_found", `There is no own provider key with the id "${id}"`, { field: "id" });
}

/** In order of creation. @param workspace null: the first ones of all workspaces */
export async function listOwnKeys(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId | null },
  sql: Queries,
): Promise<OwnKeyView[]> {
  return (await store.selectOwnKeys({ workspace, limit: ownKeysListedMax }, sql)).map((row) => viewOwnKey(row, actor));
}

export interface KeyedWorkspace {
  id: WorkspaceId;
  earlyAccess: string[];
}

/** @throws DomainError conflict where own keys are off: stored ones stay, and are not used */
export function requireSwitchedOn({ earlyAccess }: KeyedWorkspace): void {
  if (earlyAccess.includes("own_keys")) return;
  throw new DomainError(
    "conflict",
    "Own provider keys are not switched on for the workspace: set early_access to own_keys first",
  );
}

/** Half of a short key would be shown. */
export function lastFourOf(key: string): string | null {
  return key.length < ownKeyShownCharactersMin ? null : key.slice(-4);
}

function audited(row: store.OwnKeyRow): Fields {
  const { provider, name, state, zeroDataRetention } = row;
  return { provider, name, masked: masked(row), state, zero_data_retention: zeroDataRetention };
}

function masked({ lastFour }: Pick<store.OwnKeyRow, "lastFour">): string {
  return `…${lastFour ?? ""}`;
}

/** Members and auditors see that there is a key, but no part of it. */
function viewOwnKey(row: store.OwnKeyRow, actor: Actor): OwnKeyView {
  const manages = actor.kind !== "member" || managers.includes(actor.role);
  return {
    id: row.id,
    workspace_id: row.workspace,
    provider: row.provider,
    state: row.state,
    zero_data_retention: row.zeroDataRetention,
    name: manages ? row.name : null,
    masked: manages ? masked(row) : null,
    created_at: isoTime(row.createdAt.getTime()),
    tested_at: manages ? isoTime(row.testedAt.getTime()) : null,
    last_used_at: manages && row.lastUsedAt ? isoTime(row.lastUsedAt.getTime()) : null,
  };
}
