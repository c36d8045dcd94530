/**
 * A project with the first of its components, vulnerabilities and unknown matches, and their totals. Findings are counted page by page: a
 * project has up to 250,000, and in embedded mode everything else waits for each statement. Components come from `inventory.ts`.
 */
import type { Database } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { projectItemsMax, vulnerabilityPageBytesMax } from "../limits.ts";
import * as store from "./content-store.ts";
import { noFinding } from "../findings/lists/list-store.ts";
import { findingsCountedPerPage } from "../findings/limits.ts";
import { fitPage } from "../findings/fit-page.ts";
import { ranksOf } from "../findings/schema.ts";
import { selectVulnerabilityPage, type VulnerabilityFilter } from "../findings/lists/vulnerability-list-store.ts";
import { viewVulnerability } from "../findings/lists/list-rows.ts";
import { resourceNotFound } from "../resource.ts";
import { viewCoverage } from "./coverage.ts";
import { allComponents } from "./inventory-store.ts";
import { viewComponents } from "./inventory.ts";
import { type ProjectDetailsView, viewProjects, type ViewSources } from "./schema.ts";
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
  const first = { filter: allComponents, page: { limit, offset: 0 } };
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
      items: row.sbom === null ? [] : await viewComponents({ project: id, sbom: row.sbom.id, metrics: coverage, ...first }, sql),
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

function viewSbom({ id, format, specVersion, name, filename, warnings, createdAt }: PresentSbom) {
  return { id, format, spec_version: specVersion, name, filename, warnings, uploaded_at: isoTime(Date.parse(createdAt)) };
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
