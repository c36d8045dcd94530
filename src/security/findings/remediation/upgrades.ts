/** Which version to go to, for one issue and for all that is known of a component. */
import type { Affected } from "../../versions/osv-affected.ts";
import { nearestUnaffected, type NoUpgradeReason, type Upgrade } from "../../versions/nearest-unaffected.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { installedVersion, type Issue } from "../scan/match.ts";

export interface Advice {
  version: string | null;
  /** How far it is; null: there is none. */
  step: "line" | "major" | "beyond" | null;
  /** Only a prerelease clears it so far. */
  prerelease: boolean;
  /** Why there is none. */
  reason: string | null;
}

const reasons: Record<NoUpgradeReason, string> = {
  version_unknown: "The installed version has no place in the order of versions",
  not_affected: "No record says any longer that the installed version is affected",
  no_fix_known: "No record names a version above the installed one that fixes it",
  no_version_clears_all: "Each version that fixes something is affected by something else, or cannot be held against it",
};

interface Installed {
  ecosystem: Ecosystem;
  version: string;
  purl: string | null;
}

/** The nearest version that no record of this issue affects. */
export function adviceFor(installed: Installed, { entries }: Issue): Advice {
  return adviceOf(
    installed,
    entries.map(({ affected }) => affected),
  );
}

/** The nearest version that no record of any of these issues affects. */
export function adviceForAll(installed: Installed, issues: readonly Issue[]): Advice {
  // A record that speaks of several issues stands among the entries of each.
  const entries = new Set(issues.flatMap((issue) => issue.entries.map(({ affected }) => affected)));
  return adviceOf(installed, [...entries]);
}

function adviceOf(installed: Installed, entries: readonly Affected[]): Advice {
  const upgrade: Upgrade = nearestUnaffected({ installed: installedVersion(installed), entries });
  if (!upgrade.found) return { version: null, step: null, prerelease: false, reason: reasons[upgrade.reason] };
  const { version, step, prerelease } = upgrade;
  return { version, step, prerelease, reason: null };
}
