import type { Queries } from "../../backing/backing.ts";
import { countVulnerabilities } from "../findings/lists/vulnerability-counts.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { selectQueuePositions } from "../scans/fair-share-store.ts";
import { resourceNotFound } from "../resources/resource.ts";
import type { ProjectView } from "./schema.ts";
import { selectProject, type ListedProject } from "./store.ts";

export interface ViewSources {
  sql: Queries;
  clock: Clock;
}

/** Views each project with its counts and its place in the queue of scans. */
export async function viewProjects(rows: readonly ListedProject[], { sql, clock }: ViewSources): Promise<ProjectView[]> {
  const ids = rows.map(({ id }) => id);
  const counts = await countVulnerabilities(ids, sql);
  const waiting = rows.filter(({ scanStatus }) => scanStatus === "pending" || scanStatus === "scanning").map(({ id }) => id);
  const positions =
    waiting.length === 0
      ? new Map<string, number>()
      : await selectQueuePositions({ projects: waiting, now: new Date(clock.now()) }, sql);
  return rows.map((row) => {
    const counted = counts.get(row.id);
    if (counted === undefined) throw new Error(`The project ${row.id} was not counted`);
    return {
      id: row.id,
      name: row.name,
      provider: row.provider,
      product_id: row.product,
      scan_status: row.scanStatus,
      scan_queue_position: positions.get(row.id) ?? null,
      last_scanned_at: row.lastScannedAt && isoTime(row.lastScannedAt.getTime()),
      vulnerability_counts: counted,
      components_not_compared: row.notCompared,
      findings_left_out: row.findingsLeftOut,
    };
  });
}

/** @throws DomainError not_found */
export async function viewProjectOf(
  { workspace, id }: { workspace: WorkspaceId; id: string },
  sources: ViewSources,
): Promise<ProjectView> {
  const row = await selectProject({ workspace, id }, sources.sql);
  const [view] = row === undefined ? [] : await viewProjects([row], sources);
  if (view === undefined) throw resourceNotFound("project", { id });
  return view;
}
