/**
 * A project with the first of its components, vulnerabilities and unknown matches, and their totals. Findings are counted page by page: a
 * project has up to 250,000, and in embedded mode everything else waits for each statement. Each component says how it was matched.
 */
import type { Database, Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { pathStepsMax, projectItemsMax, vulnerabilityPageBytesMax } from "../limits.ts";
import * as store from "./content-store.ts";
import { selectPaths } from "../sboms/store.ts";
import { noFinding } from "../findings/lists/list-store.ts";
import { findingsCountedPerPage } from "../findings/limits.ts";
import { fitPage } from "../findings/fit-page.ts";
import { ecosystemNameOf, ranksOf } from "../findings/schema.ts";
import { selectVulnerabilityPage, type VulnerabilityFilter } from "../findings/lists/vulnerability-list-store.ts";
import { viewVulnerability } from "../findings/lists/list-rows.ts";
import { resourceNotFound } from "../resource.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";
import { versionToMatch } from "../versions/version-to-match.ts";
import { readVersion } from "../versions/version.ts";
import { viewCoverage, withoutAdvisories } from "./coverage.ts";
import { type ComponentView, type ProjectDetailsView, viewProjects, type ViewSources } from "./schema.ts";
import { selectProject, type PresentSbom } from "./store.ts";

/** @throws DomainError not_found */
export async function showProject(
  { workspace, id }: { workspace: WorkspaceId; id: string },
  sources: ViewSources & { sql: Database },
): Promise<ProjectDetailsView> {
  const { sql } = sources;
  const row = await selectProject({ workspace, id }, sql);
  const [project] = row === undefined ? [] : await viewProjects([row], sources);
  if (row === undefined || project === undefined) throw resourceNotFound("project", { id });
  const limit = projectItemsMax;
  const metrics = await metricsOf(id, sql);
  const coverage = await viewCoverage(row.sbom?.id ?? null, sources);
  const issues = await selectVulnerabilityPage(liveIn(id), sql);
  const unknowns = await store.selectUnknowns({ project: id, limit }, sql);
  return {
    ...project,
    repository: row.repository,
    scan_failure: row.scanFailure,
    created_at: isoTime(row.createdAt.getTime()),
    sbom: row.sbom && viewSbom(row.sbom),
    components: {
      items: await componentsOf({ project: id, sbom: row.sbom?.id ?? null, metrics: coverage }, sql),
      total: row.sbom?.components ?? 0,
    },
    vulnerabilities: {
      items: fitPage({ items: issues.rows, bytesMax: vulnerabilityPageBytesMax, isShortened: false }, viewVulnerability).rows,
      total: issues.total,
    },
    unknown_matches: {
      items: unknowns.map(({ issue, ...unknown }) => ({ ...unknown, cve_id: issue })),
      total: (await store.countUnknowns(id, sql)) + row.unknownsLeftOut,
    },
    metrics: { ...viewMetrics(metrics, row.sbom?.components ?? 0), ...coverage },
  };
}

/** Counts the live findings of a project page by page. */
async function metricsOf(project: string, sql: Database): Promise<store.Metrics> {
  const counts = await store.selectStatusCounts(project, sql);
  const live = { vulnerableComponents: 0, fixable: 0 };
  for (let after: store.VersionPlace | null = noFinding; after !== null;) {
    const last: store.VersionPlace | null = await store.selectVersionAfter(
      { project, after, limit: findingsCountedPerPage },
      sql,
    );
    const page = await store.selectLiveCounts({ project, after, last }, sql);
    live.vulnerableComponents += page.vulnerableComponents;
    live.fixable += page.fixable;
    after = last;
  }
  return { ...counts, ...live };
}

/** The filter of list_vulnerabilities for the first page of the project. */
function liveIn(id: string): VulnerabilityFilter {
  const page = { limit: projectItemsMax, offset: 0 };
  return { scope: { kind: "project", id }, ecosystem: null, ranks: ranksOf("all"), scoreMin: 0, page };
}

function viewSbom({ id, format, specVersion, name, filename, createdAt }: PresentSbom) {
  return { id, format, spec_version: specVersion, name, filename, uploaded_at: isoTime(Date.parse(createdAt)) };
}

interface ShownComponents {
  project: string;
  sbom: string | null;
  metrics: Pick<ProjectDetailsView["metrics"], "coverage">;
}

async function componentsOf({ project, sbom, metrics }: ShownComponents, sql: Queries): Promise<ComponentView[]> {
  if (sbom === null) return [];
  const blind = withoutAdvisories({ metrics });
  const rows = await store.selectShownComponents({ project, sbom, limit: projectItemsMax }, sql);
  const reached = rows.filter(({ relation, via }) => relation !== "unknown" || via !== null).map(({ position }) => position);
  const paths = await selectPaths({ sbom, positions: reached, stepsMax: pathStepsMax }, sql);
  return rows.map((row) => {
    const { names, whole } = paths.get(row.position) ?? { names: [], whole: true };
    const { name, version, type, purl, licenses, relation, scope, vulnerabilities } = row;
    const ecosystem = row.ecosystem && ecosystemNameOf(row.ecosystem);
    const path = whole ? names : ["…", ...names];
    return { name, version, type, ecosystem, purl, licenses, relation, path, scope, vulnerabilities, match: matchOf(row, blind) };
  });
}

/** @param blind the ecosystems without advisories, and the reasons */
function matchOf(
  { ecosystem, purl, version, unknown }: store.ComponentRow,
  blind: ReadonlyMap<Ecosystem, string>,
): ComponentView["match"] {
  if (ecosystem === null) {
    const reason = purl === null ? "it has no package URL that can be read" : "there are no advisories for its kind of package";
    return { state: "not_matched", reason };
  }
  const why = blind.get(ecosystem);
  if (why !== undefined) return { state: "not_matched", reason: why };
  const reason = unknown ?? unreadable({ ecosystem, version, purl });
  return { state: reason === null ? "known" : "unknown", reason };
}

function unreadable({
  ecosystem,
  version,
  purl,
}: Pick<store.ComponentRow, "version" | "purl"> & { ecosystem: Ecosystem }): string | null {
  if (version === null) return "the document names no version";
  const read = readVersion({ scheme: ecosystem, text: versionToMatch({ ecosystem, version, purl }) });
  return read.known ? null : "its version cannot be read";
}

function viewMetrics(
  metrics: store.Metrics,
  components: number,
): Omit<ProjectDetailsView["metrics"], "coverage" | "advisories_updated_at"> {
  return {
    components,
    vulnerable_components: metrics.vulnerableComponents,
    findings_open: metrics.open,
    findings_in_progress: metrics.inProgress,
    findings_ignored: metrics.ignored,
    findings_not_affected: metrics.notAffected,
    findings_resolved: metrics.resolved,
    false_positives: metrics.falsePositives,
    fixable: metrics.fixable,
  };
}
