/** The ranges of an advisory in readable form: `>= 1.2.0, < 1.2.9`. */
import type { Ecosystem } from "../versions/ecosystem.ts";
import { readAffected, type OsvAffected, type OsvEvent, type OsvRange } from "../versions/osv-affected.ts";

/** @param ecosystem null: an unknown one, so the events keep the advisory's order */
export function rangeTexts({ ecosystem, entry }: { ecosystem: Ecosystem | null; entry: OsvAffected }): string[] {
  const read = ecosystem === null ? [] : readAffected({ ecosystem, entry: { ranges: entry.ranges } }).ranges;
  const sorted = new Map(read.flatMap((range) => (range.readable ? [[range.index, range] as const] : [])));
  return (entry.ranges ?? []).flatMap((range, index) => {
    const found = sorted.get(index);
    if (found === undefined) return textsOf(stepsOf(range), limitOf(range));
    return textsOf(found.events, limitOf(range));
  });
}

interface Step {
  kind: keyof OsvEvent;
  text: string;
}

function stepsOf({ events }: OsvRange): Step[] {
  const steps = events.map(({ introduced, fixed, last_affected: last }): Step | null => {
    if (introduced !== undefined) return { kind: "introduced", text: introduced };
    if (fixed !== undefined) return { kind: "fixed", text: fixed };
    return last === undefined ? null : { kind: "last_affected", text: last };
  });
  return steps.filter((step) => step !== null);
}

function limitOf({ events }: OsvRange): string | null {
  const [limit] = events.flatMap((event) => event.limit ?? []);
  return limit === undefined || limit.includes("*") ? null : limit;
}

/** One text from each `introduced` event to the next end of the range. */
function textsOf(steps: readonly Step[], limit: string | null): string[] {
  const texts: string[] = [];
  let since: string | null = null;
  for (const { kind, text } of steps) {
    if (kind === "introduced") since ??= text;
    else if (since !== null) {
      texts.push(`>= ${since}, ${kind === "fixed" ? "<" : "<="} ${text}`);
      since = null;
    }
  }
  if (since !== null) texts.push(limit === null ? `>= ${since}` : `>= ${since}, < ${limit}`);
  return texts;
}
