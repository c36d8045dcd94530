/** Whether the scan of a project had advisories to compare its components with. */
import type { EcosystemAge } from "../../../src/security/advisories/import/ecosystem-ages.ts";
import { ecosystemNameOf } from "../../../src/security/findings/ecosystem-names.ts";
import type { ProjectDetailsView } from "../../../src/security/projects/schema.ts";

/**
 * Judges by the first components, which the project's details show.
 * @returns `warning`: a line, or none; `isBlind`: no component could be compared with anything
 */
export function comparisonOf(
  { components }: Pick<ProjectDetailsView, "components">,
  ages: readonly EcosystemAge[],
): { warning: string[]; isBlind: boolean } {
  const used = new Set(components.items.map(({ ecosystem }) => ecosystem));
  const needed = ages.filter(({ ecosystem }) => used.has(ecosystemNameOf(ecosystem)));
  const missing = needed.filter(({ synced_at: synced, imported_at: imported }) => synced === null && imported === null);
  if (missing.length === 0) return { warning: [], isBlind: false };
  const names = missing.map(({ ecosystem }) => ecosystem);
  return {
    warning: [
      `There are no advisories for ${names.join(", ")}, so nothing is found there: advisories sync --ecosystems ${names.join(",")}`,
    ],
    isBlind: missing.length === needed.length,
  };
}
