/** Upgrades for findings: for each finding the nearest version that is not affected, for each component one that fixes all findings. */
import type { Queries } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { pathStepsMax } from "../../limits.ts";
import { selectPaths } from "../../sboms/path-store.ts";
import { loadIssues } from "../scan/load-issues.ts";
import {
  selectDocument,
  selectPositions,
  selectFindingsToFix,
  selectVulnerable,
  type RemediationQuery,
  type PositionRow,
  type FindingToFixRow,
  type VulnerableRow,
} from "./remediation-store.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { adviceFor, adviceForAll, type Advice } from "./upgrades.ts";

export interface FindingRemediation extends FindingToFixRow {
  advice: Advice;
}

export interface ComponentRemediation extends VulnerableRow {
  advice: Advice;
  relation: PositionRow["relation"] | null;
  /** From the root to the component, each as `name@version`, `…` for omitted steps; empty when no path leads to it. */
  path: string[];
}

export interface Remediation {
  findings: FindingRemediation[];
  components: ComponentRemediation[];
  totals: { findings: number; components: number };
}

/** A page of findings and one of components, the most severe first. @returns null when the workspace has no such project */
export async function remediationOf(
  { workspace, ...query }: RemediationQuery & { workspace: WorkspaceId },
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<Remediation | null> {
  const project = await selectDocument({ workspace, project: query.project }, sql);
  if (project === undefined) return null;
  const { rows: toFix, total: findingsTotal } = await selectFindingsToFix(query, sql);
  const { rows: vulnerable, total: componentsTotal } = await selectVulnerable(query, sql);
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

type Dependency = Pick<ComponentRemediation, "relation" | "path">;

async function dependenciesOf(
  sbom: string | null,
  components: VulnerableRow[],
  sql: Queries,
): Promise<(row: VulnerableRow) => Dependency> {
  if (sbom === null) return () => ({ relation: null, path: [] });
  const places = await selectPositions({ sbom, components }, sql);
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
