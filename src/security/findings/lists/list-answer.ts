/**
 * The sentence above a list: how much of the list the page has, how to get the rest, and what an empty list does not cover. An empty list
 * is a verdict only if every scanned project was compared with advisories, so the sentence names the projects that were not.
 */
import type { Queries } from "../../../backing/backing.ts";
import type { Caller } from "../../operation.ts";
import { selectScanTotals } from "../../scans/comparison-store.ts";
import type { ListScope } from "./list-store.ts";

interface ListSummary {
  plural: string;
  /** `next_offset`: the page has fewer rows than requested, because no more fit. */
  page: { total: number; offset: number; next_offset?: number };
  rows: number;
  /** Whether a text of these rows was cut. */
  cut: boolean;
  /** What to try if the list is empty; null: nothing. */
  emptyAdvice: string | null;
  more?: string | null;
  /** What an empty list does not cover; null: it is a verdict on everything that was scanned. */
  blind: string | null;
}

/** The message of a page: how much of the list it is, and how to get the rest. */
export function listMessage({
  plural,
  page: { total, offset, next_offset: next },
  rows,
  cut,
  emptyAdvice,
  more = null,
  blind,
}: ListSummary): string {
  return [
    `${rows} of ${total} ${plural}`,
    rows === 0 && total > 0 && `The offset ${offset} is beyond the last row`,
    total === 0 && emptyAdvice,
    total === 0 && blind,
    more,
    next !== undefined && `No more rows fit into one response: the next page begins at the offset ${next}`,
    cut && "Long texts are cut: they end with …",
  ]
    .filter((sentence) => typeof sentence === "string")
    .join(". ");
}

/** Names the projects that an empty list does not cover. @returns a sentence; null if every scanned project was compared with advisories */
export async function blindProjects(scope: ListScope, sql: Queries): Promise<string | null> {
  const { scanned, notComparable } = await selectScanTotals(scope, sql);
  if (notComparable === 0) return null;
  const subject =
    scanned === 1
      ? "The scanned project is"
      : `${notComparable} of ${scanned} scanned projects ${notComparable === 1 ? "is" : "are"}`;
  return `${subject} not_comparable: there are no advisories for the components, so this says nothing about them`;
}

/** The scope of a key's lists, unless the call names another. */
export function activeScope({ scope, workspace }: Caller): ListScope {
  return scope.kind === "workspace" ? { kind: "workspace", id: workspace } : scope;
}
