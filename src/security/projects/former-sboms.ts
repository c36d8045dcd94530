/** Documents that were a project's present one before: some are kept, the others removed bit by bit. */
import { change } from "../../accounts/audit/change.ts";
import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { formerSbomRowsMax, formerSbomsMarkedMax } from "../limits.ts";
import { deletePartOfSbom, markFormerSboms, selectProjectsOverLimit, selectSbomToRemove } from "./former-sbom-store.ts";

interface Parts {
  sql: Database;
  clock: Clock;
}

/**
 * From then on they are no documents of their project: uploading the same bytes makes a new one.
 * @param kept how many each project keeps, its present one among them
 * @returns how many were marked; none: no project has more
 */
export async function markFormer(kept: number, { sql, clock }: Parts): Promise<number> {
  let marked = 0;
  for (const project of await selectProjectsOverLimit({ kept, limit: formerSbomsMarkedMax }, sql)) {
    marked += await change({ kind: "service" }, { sql, clock }, async (tx) => {
      const sboms = await markFormerSboms({ project, kept, limit: formerSbomsMarkedMax }, tx);
      const event = sboms.map(({ id, workspace }) => ({
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

/** A short step of it. @returns false: there is nothing to remove */
export async function removeSomeFormer(sql: Database): Promise<boolean> {
  const id = await selectSbomToRemove(sql);
  if (id === undefined) return false;
  await deletePartOfSbom({ id, limit: formerSbomRowsMax }, sql);
  return true;
}
