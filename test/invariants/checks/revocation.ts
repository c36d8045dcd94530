import { keyRecordAgeMsMax } from "../../../src/gateway/limits.ts";
import { Notes, type Finding } from "../evidence.ts";
import type { History } from "../history.ts";

/** I-14: a request is not admitted if it began more than thirty seconds after its key was revoked, despite all caches. */
export function revocation(history: History, delayMsMax: number): Finding {
  const notes = new Notes();
  const revoked = new Map<string, number>();
  const requestedAt = new Map<string, number>();
  for (const event of history) {
    if (event.kind === "revoked") revoked.set(event.key, event.at);
    if (event.kind === "invoked") requestedAt.set(event.invocation, event.at);
    if (event.kind !== "admitted") continue;
    const { generation, key, invocation, at } = event;
    const since = revoked.get(key);
    if (since === undefined) continue;
    const startedAt = requestedAt.get(invocation ?? "") ?? at - delayMsMax;
    const ageMs = startedAt - since;
    notes.check(
      ageMs <= keyRecordAgeMsMax,
      () => `${generation}: admitted with ${key}, although requested ${ageMs} ms after its revocation`,
    );
  }
  return notes;
}
