/** Says for people how old the advisories are. */
import { advisoriesUpdatedAt, incompleteText, type EcosystemAge } from "../../../src/security/advisories/ecosystem-ages.ts";

/** The control API's document states that its answer has these fields. */
export function agesFrom(answer: Record<string, unknown>): EcosystemAge[] {
  return answer["data"] as unknown as EcosystemAge[];
}

/** One line. */
export function agesText(ages: readonly EcosystemAge[], nowMs: number): string {
  const known = ages.flatMap((age) => {
    const since = advisoriesUpdatedAt(age);
    return since === null ? [] : [`${age.ecosystem} ${ageText(nowMs - Date.parse(since))}`];
  });
  const incomplete = ages.filter(({ sync_began_at: began }) => began !== null);
  const missing = ages.filter(({ known: isKnown, sync_began_at: began }) => !isKnown && began === null);
  const rest = [
    ...(missing.length === 0 ? [] : [`none for ${namesOf(missing)}`]),
    ...(incomplete.length === 0 ? [] : [incompleteText(namesOf(incomplete))]),
  ];
  if (known.length === 0 && incomplete.length === 0) return "There are no advisories: advisories sync gets them";
  return `Age of advisories: ${[...(known.length === 0 ? [] : [known.join(", ")]), ...rest].join("; ")}`;
}

function namesOf(ages: readonly EcosystemAge[]): string {
  return ages.map(({ ecosystem }) => ecosystem).join(", ");
}

/** In the largest whole unit. */
export function ageText(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 72 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
