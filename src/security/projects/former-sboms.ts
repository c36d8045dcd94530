/**
 * The former SBOMs of a project: the newest are kept, the others are marked and then removed in short steps, so that the database can serve
 * others. A marked SBOM no longer belongs to its project: an upload of the same bytes stores a new one. Findings and decisions outlive it.
 */
import { change, type AuditEvent } from "../../accounts/audit/change.ts";
import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { formerSbomRowsMax, formerSbomsMarkedMax } from "../limits.ts";
import { deletePartOfSbom, markFormerSboms, selectProjectsOverLimit, selectSbomToRemove } from "./content-store.ts";

interface Parts {
  sql: Database;
  clock: Clock;
}

/**
 * Marks SBOMs for removal.
 * @param kept how many SBOMs each project keeps, including its current one
 * @returns how many were marked; 0 if no project has more than `kept`
 */
export async function markFormer(kept: number, { sql, clock }: Parts): Promise<number> {
  let marked = 0;
  for (const project of await selectProjectsOverLimit({ kept, limit: formerSbomsMarkedMax }, sql)) {
    marked += await change({ kind: "service" }, { sql, clock }, async (tx) => {
      const sboms = await markFormerSboms({ project, kept, limit: formerSbomsMarkedMax }, tx);
      const event = sboms.map(({ id, workspace }): AuditEvent => ({
        event: "project.sbom.removed",
        workspace,
        target: project,
        changes: { sbom_id: { from: id, to: null } },
      }));
      return { result: sboms.length, event };
    });
  }
  return marked;
}

/** Removes some rows of one marked SBOM. @returns false if nothing is left to remove */
export async function removeSomeFormer(sql: Database): Promise<boolean> {
  const id = await selectSbomToRemove(sql);
  if (id === undefined) return false;
  await deletePartOfSbom({ id, limit: formerSbomRowsMax }, sql);
  return true;
}
