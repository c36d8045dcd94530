import { keyRecordAgeMsMax } from "../../src/gateway/limits.ts";
import { Notes, type Finding } from "./evidence.ts";
import type { History } from "./history.ts";

/** I-14: what is asked with a key more than thirty seconds after it was revoked is not admitted, whoever cached what. */
export function revocation(history: History, delayMsMax: number): Finding {
  const notes = new Notes();
  const revoked = new Map<string, number>();
  const asked = new Map<string, number>();
  for (const event of history) {
    if (event.kind === "revoked") revoked.set(event.key, event.at);
    if (event.kind === "invoked") asked.set(event.invocation, event.at);
    if (event.kind !== "admitted") continue;
    const { generation, key, invocation, at } = event;
    const since = revoked.get(key);
    if (since === undefined) continue;
    const askedAt = asked.get(invocation ?? "") ?? at - delayMsMax;
    const ageMs = askedAt - since;
    notes.check(
      ageMs <= keyRecordAgeMsMax,
      () => `${generation}: asked with ${key} ${ageMs} ms after it was revoked, and admitted`,
    );
  }
  return notes;
}
