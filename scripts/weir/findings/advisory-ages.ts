/** Says for people how old the advisories are. */
import type { EcosystemAge } from "../../../src/security/advisories/import/ecosystem-ages.ts";

/** The control API's document states that its answer has these fields. */
export function agesFrom(answer: Record<string, unknown>): EcosystemAge[] {
  return answer["data"] as unknown as EcosystemAge[];
}

/** One line. An ecosystem is as old as its last synchronization or, without one, as the newest of its records. */
export function agesText(ages: readonly EcosystemAge[], nowMs: number): string {
  const known = ages.flatMap(({ ecosystem, synced_at: synced, newest_record: newest, imported_at: imported }) => {
    const since = synced ?? newest ?? imported;
    return since === null ? [] : [`${ecosystem} ${ageText(nowMs - Date.parse(since))}`];
  });
  const missing = ages.filter(({ synced_at: synced, imported_at: imported }) => synced === null && imported === null);
  if (known.length === 0) return "There are no advisories: advisories sync gets them";
  const none = missing.length === 0 ? "" : `; none for ${missing.map(({ ecosystem }) => ecosystem).join(", ")}`;
  return `Age of advisories: ${known.join(", ")}${none}`;
}

/** In the largest whole unit. */
export function ageText(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 72 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
