import type { Queries } from "../backing/backing.ts";
import { countsOf } from "../findings/counts.ts";
import { isoTime } from "../kernel/clock.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import { noProject } from "./find-or-create.ts";
import type { ProjectView } from "./schema.ts";
import { selectProject, type ListedProject } from "./store.ts";

/** Each with its counts. */
export async function viewProjects(rows: readonly ListedProject[], sql: Queries): Promise<ProjectView[]> {
  const ids = rows.map(({ id }) => id);
  const counts = await countsOf(ids, sql);
  return rows.map((row) => {
    const counted = counts.get(row.id);
    if (counted === undefined) throw new Error(`The project ${row.id} was not counted`);
    return {
      id: row.id,
      name: row.name,
      provider: row.provider,
      product_id: row.product,
      scan_status: row.scanStatus,
      last_scanned_at: row.lastScannedAt && isoTime(row.lastScannedAt.getTime()),
      vulnerability_counts: counted,
    };
  });
}

/** @throws ControlError not_found */
export async function viewProjectOf(
  { workspace, id }: { workspace: WorkspaceId; id: string },
  sql: Queries,
): Promise<ProjectView> {
  const row = await selectProject({ workspace, id }, sql);
  const [view] = row === undefined ? [] : await viewProjects([row], sql);
  if (view === undefined) throw noProject(id);
  return view;
}
