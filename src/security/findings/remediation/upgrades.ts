/** The version to upgrade to, for one issue and for all issues of a component. */
import type { Affected } from "../../versions/osv-affected.ts";
import { nearestUnaffected, type NoUpgradeReason, type Upgrade, type UpgradeStep } from "../../versions/nearest-unaffected.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { installedVersion, type Issue } from "../scan/match.ts";

export interface Advice {
  version: string | null;
  /** The size of the upgrade; null: there is no version. */
  step: UpgradeStep | null;
  /** The same in the words of earlier versions. */
  distance: Distance | null;
  /** Whether only a prerelease fixes it so far. */
  prerelease: boolean;
  /** Why there is no version. */
  reason: string | null;
}

/** The names are the widest part of the installed version that stays: its `major.minor`, its major version, or nothing. */
export type Distance = "line" | "major" | "beyond";
const distances: Record<UpgradeStep, Distance> = { patch: "line", minor: "major", major: "beyond" };

const reasons: Record<NoUpgradeReason, string> = {
  version_unknown: "The installed version cannot be compared with other versions",
  not_affected: "No advisory lists the installed version as affected any longer",
  no_fix_known: "No advisory names a later version that fixes it",
  no_version_clears_all: "Each version with a fix is affected by another issue, or cannot be compared with it",
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
  // A record about several issues is among the entries of each.
  const entries = new Set(issues.flatMap((issue) => issue.entries.map(({ affected }) => affected)));
  return adviceOf(installed, [...entries]);
}

function adviceOf(installed: Installed, entries: readonly Affected[]): Advice {
  const upgrade: Upgrade = nearestUnaffected({ installed: installedVersion(installed), entries });
  if (!upgrade.found) return { version: null, step: null, distance: null, prerelease: false, reason: reasons[upgrade.reason] };
  const { version, step, prerelease } = upgrade;
  return { version, step, distance: distances[step], prerelease, reason: null };
}
