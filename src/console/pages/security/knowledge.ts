/**
 * Warnings about missing advisories. Without advisories "nothing found" is not a verdict, so every security list warns if something could
 * not be compared, and says who can get advisories and how.
 */
import { advisoryEndpoints } from "../../../control-api/endpoints/advisories.ts";
import { projectEndpoints } from "../../../control-api/endpoints/projects.ts";
import { markup, type Html } from "../../../http/html.ts";
import { incompleteText, type EcosystemAge } from "../../../security/advisories/ecosystem-ages.ts";
import { notice } from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";

/** A warning if a project of the workspace cannot be compared with any advisory; null: each can. */
export async function blindNotice(call: PageCall): Promise<Html | null> {
  const { scanned, not_comparable: blind } = await call.control(projectEndpoints.countScans);
  if (blind === 0) return null;
  const subject = scanned === 1 ? "The project that was scanned" : `${blind} of ${scanned} scanned projects`;
  const words = markup`${subject} cannot be compared: there are no advisories for the components, so whether they have vulnerabilities is not known. ${incomplete(await agesOf(call))}${remedy(call)}`;
  return notice({ tone: "warn", words });
}

/** Before the first upload: a warning if the service has no advisories at all; null: it has some. */
export async function firstStartNotice(call: PageCall): Promise<Html | null> {
  const ages = await agesOf(call);
  if (ages.some(({ known }) => known)) return null;
  const words = markup`There are no advisories yet, so no vulnerability can be found. ${incomplete(ages)}${remedy(call)}`;
  return notice({ tone: "warn", words });
}

async function agesOf(call: PageCall): Promise<EcosystemAge[]> {
  return (await call.control(advisoryEndpoints.list)).data;
}

/** Says which ecosystems have only part of their published advisories; null: none. */
export function incomplete(ages: readonly EcosystemAge[]): Html | null {
  const names = ages.flatMap(({ ecosystem, sync_began_at: began }) => (began === null ? [] : [ecosystem]));
  if (names.length === 0) return null;
  return markup`${capitalized(incompleteText(names.join(", ")))}. `;
}

function capitalized(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Who can get advisories, and where. */
export function remedy(call: PageCall): Html {
  if (call.viewer.operates)
    return markup`<a href="/console/operator/advisories">Import advisories</a>: the projects are then scanned again automatically.`;
  return markup`Ask the operator to import advisories, under Advisories or by <code>advisories sync</code>. The projects are then scanned again automatically.`;
}

const minuteMs = 60_000;
const [hourMs, dayMs] = [60 * minuteMs, 24 * 60 * minuteMs];

/** Such as `2 hours ago`. @param at ISO 8601 */
export function agoText(at: string, nowMs: number): string {
  const ms = Math.max(0, nowMs - Date.parse(at));
  if (ms < 2 * minuteMs) return "just now";
  if (ms < 2 * hourMs) return `${Math.floor(ms / minuteMs)} minutes ago`;
  return ms < 2 * dayMs ? `${Math.floor(ms / hourMs)} hours ago` : `${Math.floor(ms / dayMs)} days ago`;
}
