import type { MemberActor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import type { Transaction } from "../../backing/backing.ts";
import { mintKey, newKeyId, type WorkspaceId } from "../../kernel/ids.ts";
import { authorize, writers } from "../workspaces/authorize.ts";
import { DomainError } from "../errors.ts";
import { formFields, newLimits, parseForm } from "./form.ts";
import type { KeyForm, KeyKind, NewKeyView } from "./schema.ts";
import { insertKey, lockOwnership, type KeyRow } from "./store.ts";
import { viewKey } from "./view.ts";

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
    await insertKey({ ...key, minted, at }, tx);
    const row: KeyRow = {
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
 * Checks that the owner is active and, for an inference key, that the workspace is switched on. Locks both, so that neither changes
 * before the key is inserted.
 */
async function requireOpen(place: { workspace: WorkspaceId; owner: string; kind: KeyKind }, tx: Transaction): Promise<void> {
  const ownership = await lockOwnership(place, tx);
  if (!ownership) {
    throw new DomainError("forbidden", `Cannot create a key: "${place.owner}" is no active member`, { field: "owner" });
  }
  if (place.kind === "inference" && !ownership.enabled) {
    throw new DomainError("workspace_disabled", "Cannot create a key: the workspace is switched off", { field: "workspace" });
  }
}
