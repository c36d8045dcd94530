/**
 * API keys: created, edited, revoked, listed, found, and viewed.
 *
 * The full key exists only in the answer to its creation; the database has its hash, its beginning and its end. Members manage their own
 * keys, managers all keys of the workspace. A change is recorded with the changed fields; nothing is recorded if none changed. A key that
 * the actor may not see is not found, so that existing keys stay hidden. Admission enforces a key's limits.
 */
import type { Transaction, Queries } from "../../backing/backing.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { mintKey, newKeyId, type WorkspaceId, type KeyId, maskKey } from "../../kernel/ids.ts";
import { formatUsd, parseUsd, type NanoUsd } from "../../kernel/money.ts";
import { type MemberActor, type Actor, authorize, writers, managers, ownerSeenBy } from "../audit/actor.ts";
import { change, type Sources, changedFields } from "../audit/change.ts";
import type { Fields } from "../audit/store.ts";
import { DomainError } from "../errors.ts";
import { canonicalEmail, leftOf, parseAmount } from "../workspaces/fields.ts";
import type { KeyForm, KeyKind, NewKeyView, KeyEdit, KeyView } from "./schema.ts";
import * as store from "./store.ts";

/**
 * Creates a key for the actor. Only this answer contains the full key.
 * @param slug the service's name, the beginning of keys
 * @throws DomainError workspace_disabled, forbidden to auditors, invalid_field
 */
export async function createKey(
  { actor, workspace, form }: { actor: MemberActor; workspace: WorkspaceId; form: KeyForm },
  { slug, ...sources }: Sources & { slug: string },
): Promise<NewKeyView> {
  authorize(actor, { roles: writers, action: "create a key" });
  if (form.owner !== undefined && form.owner.toLowerCase() !== actor.email) {
    throw new DomainError("forbidden", "Cannot create a key for another person: a key belongs to its creator", {
      field: "owner",
    });
  }
  const kind = form.kind ?? "inference";
  const limits = parseForm(form, newLimits);
  return change(actor, sources, async (tx) => {
    await requireOpen({ workspace, owner: actor.email, kind }, tx);
    const at = sources.clock.now();
    const minted = mintKey(slug, kind);
    const key = { ...limits, id: newKeyId(at), workspace, owner: actor.email, kind };
    await store.insertKey({ ...key, minted, at }, tx);
    const row: store.KeyRow = {
      ...key,
      start: minted.start,
      lastFour: minted.lastFour,
      monthSpent: 0n,
      daySpent: 0n,
      createdAt: new Date(at),
      lastUsedAt: null,
      revokedAt: null,
    };
    const changes = changedFields({ before: {}, after: { ...formFields(limits), kind } });
    return {
      result: { ...viewKey(row), key: minted.full },
      event: { event: "auth.api.key.created", workspace, target: key.id, changes },
    };
  });
}

/**
 * Changes name, spend limits or requests per minute. Records `auth.api.key.updated` with the changed fields, or nothing if no
 * field changed.
 * @throws DomainError conflict for a revoked key; invalid_field; forbidden
 */
export async function editKey(
  { actor, id, edit }: { actor: Actor; id: KeyId; edit: KeyEdit },
  sources: Sources,
): Promise<KeyView> {
  return change(actor, sources, async (tx) => {
    const now = sources.clock.now();
    const row = requireKey(id, await store.lockKey({ id, now }, tx));
    requireManaged(actor, row);
    if (row.revokedAt) throw new DomainError("conflict", "Cannot edit a key that is revoked", { field: "id" });
    const limits = parseForm(edit, row);
    const changes = changedFields({ before: formFields(row), after: formFields(limits) });
    if (Object.keys(changes).length === 0) return { result: viewKey(row), event: null };
    await store.updateLimits(id, limits, tx);
    return {
      result: viewKey(requireKey(id, await store.selectKey({ id, now }, tx))),
      event: { event: "auth.api.key.updated", workspace: row.workspace, target: id, changes },
    };
  });
}

/** Revokes a key irreversibly. Revoking it again changes nothing. */
export async function revokeKey({ actor, id }: { actor: Actor; id: KeyId }, sources: Sources): Promise<KeyView> {
  return change(actor, sources, async (tx) => {
    const now = sources.clock.now();
    const row = requireKey(id, await store.lockKey({ id, now }, tx));
    requireManaged(actor, row);
    if (row.revokedAt) return { result: viewKey(row), event: null };
    const revokedAt = new Date(now);
    await store.updateRevoked(id, revokedAt, tx);
    const changes = changedFields({ before: {}, after: { revoked_at: isoTime(now) } });
    return {
      result: viewKey({ ...row, revokedAt }),
      event: { event: "auth.api.key.revoked", workspace: row.workspace, target: id, changes },
    };
  });
}

/**
 * Lists keys with their spend of this month: members see their own, overseers all. Revoked keys have a separate list.
 * @param owner only keys of this person; null: of all that the actor sees
 */
export async function listKeys(
  { actor, owner: named, ...filter }: Omit<store.KeyFilter, "now"> & { actor: Actor },
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<KeyView[]> {
  const seen = ownerSeenBy(actor);
  const owner = named === null ? seen : canonicalEmail(named);
  if (seen !== null && owner !== seen) return [];
  const rows = await store.selectKeys({ ...filter, owner, now: clock.now() }, sql);
  return rows.map(viewKey);
}

/** @throws DomainError not_found */
export async function findKey(id: KeyId, { sql, clock }: { sql: Queries; clock: Clock }): Promise<store.KeyRow> {
  return requireKey(id, await store.selectKey({ id, now: clock.now() }, sql));
}

export function noKey(id: KeyId): DomainError {
  return new DomainError("not_found", `There is no key with the id "${id}"`, { field: "id" });
}

/**
 * @param workspace where the actor acts; null: in any
 * @throws DomainError not_found, also for a key that the actor may not see, so that existing keys stay hidden
 */
export function requireSeen({
  actor,
  workspace,
  row,
}: {
  actor: Actor;
  workspace: WorkspaceId | null;
  row: store.KeyRow;
}): store.KeyRow {
  const owner = ownerSeenBy(actor);
  const seen = (owner === null || owner === row.owner) && (workspace === null || workspace === row.workspace);
  return requireKey(row.id, seen ? row : undefined);
}

/** The name of a key that is created without one. */
const nameWhenEmpty = "Untitled key";

const newLimits: store.Limits = { name: nameWhenEmpty, monthlyLimit: null, dailyLimit: null, requestsPerMinute: null };

/** A key as clients see it, masked: the key itself is not stored. What its requests reserve, the gateways know (`withReserved`). */
export function viewKey(row: store.KeyRow): KeyView {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    prefix: row.start,
    masked: maskKey(row.start, row.lastFour),
    owner: row.owner,
    workspace_id: row.workspace,
    monthly_spend_limit_usd: row.monthlyLimit === null ? null : formatUsd(row.monthlyLimit),
    daily_spend_limit_usd: row.dailyLimit === null ? null : formatUsd(row.dailyLimit),
    rate_limit_rpm: row.requestsPerMinute,
    month_spent_usd: formatUsd(row.monthSpent),
    day_spent_usd: row.daySpent === null || row.dailyLimit === null ? null : formatUsd(row.daySpent),
    reserved_usd: null,
    month_left_usd: null,
    day_left_usd: null,
    created_at: isoTime(row.createdAt.getTime()),
    last_used_at: row.lastUsedAt && isoTime(row.lastUsedAt.getTime()),
    revoked_at: row.revokedAt && isoTime(row.revokedAt.getTime()),
  };
}

/** @param reserved by the key's open requests; null: not known */
export function withReserved<View extends KeyView>(view: View, reserved: NanoUsd | null): View {
  const nano = (usd: string | null): NanoUsd | null => (usd === null ? null : parseUsd(usd));
  const { monthly_spend_limit_usd: monthly, daily_spend_limit_usd: daily, month_spent_usd: month, day_spent_usd: day } = view;
  return {
    ...view,
    reserved_usd: reserved === null ? null : formatUsd(reserved),
    month_left_usd: leftOf({ limit: nano(monthly), spent: nano(month), reserved }),
    day_left_usd: leftOf({ limit: nano(daily), spent: nano(day), reserved }),
  };
}

/**
 * Merges the given fields into the previous ones. Spend limits are above zero with at most two decimals.
 * @throws DomainError invalid_field
 */
function parseForm(typed: KeyEdit, before: store.Limits): store.Limits {
  return {
    name: typed.name === undefined ? before.name : typed.name.trim() || nameWhenEmpty,
    monthlyLimit: parseLimit({ field: "monthly_spend_limit_usd", typed, before: before.monthlyLimit }),
    dailyLimit: parseLimit({ field: "daily_spend_limit_usd", typed, before: before.dailyLimit }),
    requestsPerMinute: typed.rate_limit_rpm === undefined ? before.requestsPerMinute : typed.rate_limit_rpm,
  };
}

function parseLimit({
  field,
  typed,
  before,
}: {
  field: "monthly_spend_limit_usd" | "daily_spend_limit_usd";
  typed: KeyEdit;
  before: NanoUsd | null;
}): NanoUsd | null {
  const text = typed[field];
  if (text === undefined) return before;
  return text === null ? null : parseAmount({ field, text, decimalsMax: 2 });
}

/**
 * Checks that the owner is active and, for an inference key, that the workspace is switched on. Locks both, so that neither changes
 * before the key is inserted.
 */
async function requireOpen(place: { workspace: WorkspaceId; owner: string; kind: KeyKind }, tx: Transaction): Promise<void> {
  const ownership = await store.lockOwnership(place, tx);
  if (!ownership) {
    throw new DomainError("forbidden", `Cannot create a key: "${place.owner}" is not an active member`, { field: "owner" });
  }
  if (place.kind === "inference" && !ownership.enabled) {
    throw new DomainError("workspace_disabled", "Cannot create a key: the workspace is switched off", { field: "workspace" });
  }
}

/** The fields with their names in the control API and the audit log. */
function formFields(limits: store.Limits): Fields {
  return {
    name: limits.name,
    monthly_spend_limit_usd: limits.monthlyLimit === null ? null : formatUsd(limits.monthlyLimit),
    daily_spend_limit_usd: limits.dailyLimit === null ? null : formatUsd(limits.dailyLimit),
    rate_limit_rpm: limits.requestsPerMinute,
  };
}

function requireKey(id: KeyId, row: store.KeyRow | undefined): store.KeyRow {
  if (!row) throw noKey(id);
  return row;
}

/**
 * Only its owner and the managers of the workspace may change a key.
 * @throws DomainError forbidden
 */
function requireManaged(actor: Actor, row: store.KeyRow): void {
  const own = actor.kind === "member" && actor.email === row.owner;
  authorize(actor, { roles: own ? writers : managers, action: own ? "change a key" : "change another person's key" });
}
