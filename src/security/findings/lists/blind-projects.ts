/** Says which projects an empty list says nothing of. */
import type { Queries } from "../../../backing/backing.ts";
import { selectScanTotals } from "../../scans/comparison-store.ts";
import type { ListScope } from "./list-store.ts";

/** A sentence; null: each project that was scanned was compared with advisories. */
export async function blindProjects(scope: ListScope, sql: Queries): Promise<string | null> {
  const { scanned, notComparable } = await selectScanTotals(scope, sql);
  if (notComparable === 0) return null;
  const subject =
    scanned === 1
      ? "The scanned project is"
      : `${notComparable} of ${scanned} scanned projects ${notComparable === 1 ? "is" : "are"}`;
  return `${subject} not_comparable: there are no advisories for the components, so this says nothing of them`;
}
