import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { KeyId } from "../../kernel/ids.ts";
import { requireManaged } from "./edit.ts";
import type { KeyView } from "./schema.ts";
import { requireKey } from "./show.ts";
import { lockKey, updateRevoked } from "./store.ts";
import { viewKey } from "./view.ts";

/** Revokes a key irreversibly. Revoking it again changes nothing. */
export async function revokeKey({ actor, id }: { actor: Actor; id: KeyId }, sources: Sources): Promise<KeyView> {
  return change(actor, sources, async (tx) => {
    const now = sources.clock.now();
    const row = requireKey(id, await lockKey({ id, now }, tx));
    requireManaged(actor, row);
    if (row.revokedAt) return { result: viewKey(row), event: null };
    const revokedAt = new Date(now);
    await updateRevoked(id, revokedAt, tx);
    const changes = changedFields({ before: {}, after: { revoked_at: isoTime(now) } });
    return {
      result: viewKey({ ...row, revokedAt }),
      event: { event: "auth.api.key.revoked", workspace: row.workspace, target: id, changes },
    };
  });
}
