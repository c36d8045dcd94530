/**
 * Says which version to install. A finding gets the nearest version above the installed one that its issue does not affect; a component
 * gets the nearest one that no known issue of its package affects.
 *
 * Only versions that records name as fixes are candidates, because Weir has no list of published versions. `nearestUnaffected` picks among
 * them and prefers the installed release line. If no candidate is left, the advice gives a reason instead of a version. `distance` repeats
 * `step` in the words of earlier versions, for clients that still read it.
 */
import { Type } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { pathStepsMax } from "../../limits.ts";
import { selectPaths } from "../../sboms/store.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { nearestUnaffected, type NoUpgradeReason, type Upgrade, type UpgradeStep } from "../../versions/nearest-unaffected.ts";
import type { Affected } from "../../versions/osv-range.ts";
import * as store from "./remediation-store.ts";
import { loadIssues } from "../scan/advisory-store.ts";
import { installedVersion, type PackageIssue } from "../scan/match.ts";

export interface FindingRemediation extends store.FindingToFixRow {
  advice: Advice;
}

export interface ComponentRemediation extends store.VulnerableRow {
  advice: Advice;
  relation: store.PositionRow["relation"] | null;
  /** From the root to the component, each as `name@version`, `…` for omitted steps; empty if no path leads to it. */
  path: string[];
}

export interface Remediation {
  findings: FindingRemediation[];
  components: ComponentRemediation[];
  totals: { findings: number; components: number };
}

/** A page of findings and one of components, the most severe first. @returns null if the workspace has no such project */
export async function remediationOf(
  { workspace, ...query }: store.RemediationQuery & { workspace: WorkspaceId },
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<Remediation | null> {
  const project = await store.selectDocument({ workspace, project: query.project }, sql);
  if (project === undefined) return null;
  const { rows: toFix, total: findingsTotal } = await store.selectFindingsToFix(query, sql);
  const { rows: vulnerable, total: componentsTotal } = await store.selectVulnerable(query, sql);
  const yielder = new EventLoopYielder(clock);
  const issues = await loadIssues([...new Set([...toFix, ...vulnerable].map((row) => row.package))], { sql, yielder });
  const dependencyOf = await dependenciesOf(project.sbom, vulnerable, sql);
  const findings: FindingRemediation[] = [];
  for (const row of toFix) {
    const issue = issues.get(row.package)?.find(({ vulnerability }) => vulnerability === row.vulnerability);
    findings.push({ ...row, advice: adviceFor(row, issue ?? noIssue) });
    await yielder.yieldIfDue();
  }
  const components: ComponentRemediation[] = [];
  for (const row of vulnerable) {
    components.push({ ...row, ...dependencyOf(row), advice: adviceForAll(row, issues.get(row.package) ?? []) });
    await yielder.yieldIfDue();
  }
  return { findings, components, totals: { findings: findingsTotal, components: componentsTotal } };
}

const noIssue = { vulnerability: 0n, rank: 0, entries: [] };

export interface Advice {
  version: string | null;
  /** The size of the upgrade; null: there is no version. */
  step: UpgradeStep | null;
  /** Whether only a prerelease fixes it so far. */
  prerelease: boolean;
  /** Why there is no version. */
  reason: string | null;
}

interface Installed {
  ecosystem: Ecosystem;
  version: string;
  purl: string | null;
}

/** The nearest version that no record of any of these issues affects. */
export function adviceForAll(installed: Installed, issues: readonly PackageIssue[]): Advice {
  // A record about several issues is among the entries of each.
  const entries = new Set(issues.flatMap((issue) => issue.entries.map(({ affected }) => affected)));
  return adviceOf(installed, [...entries]);
}

const wordOrNull = (words: readonly string[], description: string) =>
  Type.Union([...words.map((word) => Type.Literal(word)), Type.Null()], { description });

/** The fields of an upgrade in answers. */
export const upgradeStepFields = {
  step: wordOrNull(
    ["patch", "minor", "major"],
    "The size of the upgrade: patch (the same major.minor), minor (the same major version) or major (another major version)",
  ),
};

type Dependency = Pick<ComponentRemediation, "relation" | "path">;

async function dependenciesOf(
  sbom: string | null,
  components: store.VulnerableRow[],
  sql: Queries,
): Promise<(row: store.VulnerableRow) => Dependency> {
  if (sbom === null) return () => ({ relation: null, path: [] });
  const places = await store.selectPositions({ sbom, components }, sql);
  const paths = await selectPaths({ sbom, positions: places.map(({ position }) => position), stepsMax: pathStepsMax }, sql);
  const keyOf = (about: { package: bigint; version: string }) => `${about.package} ${about.version}`;
  const byKey = new Map(places.map((place) => [keyOf(place), place]));
  return (row) => {
    const place = byKey.get(keyOf(row));
    if (place === undefined) return { relation: null, path: [] };
    const path = place.relation === "unknown" ? undefined : paths.get(place.position);
    if (path === undefined) return { relation: place.relation, path: [] };
    return { relation: place.relation, path: path.whole ? path.labels : ["…", ...path.labels] };
  };
}

/** The nearest version that no record of this issue affects. */
function adviceFor(installed: Installed, { entries }: PackageIssue): Advice {
  return adviceOf(
    installed,
    entries.map(({ affected }) => affected),
  );
}

const reasons: Record<NoUpgradeReason, string> = {
  version_unknown: "The installed version cannot be compared with other versions",
  not_affected: "No advisory lists the installed version as affected any longer",
  no_fix_known: "No advisory names a later version that fixes it",
  no_version_clears_all: "Each version with a fix is affected by another issue, or cannot be compared with it",
};

function adviceOf(installed: Installed, entries: readonly Affected[]): Advice {
  const upgrade: Upgrade = nearestUnaffected({ installed: installedVersion(installed), entries });
  if (!upgrade.found) return { version: null, step: null, prerelease: false, reason: reasons[upgrade.reason] };
  const { version, step, prerelease } = upgrade;
  return { version, step, prerelease, reason: null };
}
