/** Summarizes all advisories about an issue, within the limits of a response. */
import type { Advisory } from "../advisories/advisory.ts";
import { isNotOlder } from "../advisories/import/modified.ts";
import { vulnerabilityDescriptionCharactersMax, vulnerabilityReferencesMax } from "../limits.ts";
import type { VulnerabilityRecord } from "./schema.ts";

type Summary = Pick<VulnerabilityRecord, "description" | "references" | "cwes" | "published" | "modified" | "withdrawn">;

interface Summarized extends Summary {
  leftOut: { references: number; description_characters: number };
}

/** @param records in the order of precedence */
export function summaryOf(records: readonly Advisory[]): Summarized {
  const description = descriptionOf(records);
  const references = [...new Map(records.flatMap((record) => record.references.map((one) => [one.url, one] as const))).values()];
  const withdrawals = records.flatMap(({ withdrawn }) => withdrawn ?? []);
  const shown = cut(description);
  return {
    description: shown,
    references: references.slice(0, vulnerabilityReferencesMax).map(({ type, url }) => ({ type, url })),
    cwes: [...new Set(records.flatMap(cwesOf))].toSorted(),
    published: inOrder(records.flatMap(({ published }) => published ?? []))[0] ?? null,
    modified: inOrder(records.map(({ modified }) => modified)).at(-1) ?? null,
    withdrawn: withdrawals.length < records.length ? null : (inOrder(withdrawals).at(-1) ?? null),
    leftOut: {
      references: Math.max(0, references.length - vulnerabilityReferencesMax),
      description_characters: Math.max(0, description.length - vulnerabilityDescriptionCharactersMax),
    },
  };
}

/** The description of one record: its summary, then its details. */
function descriptionOf(records: readonly Advisory[]): string {
  const [first] = [
    ...records.filter(({ details }) => details.trim() !== ""),
    ...records.filter(({ summary }) => summary.trim() !== ""),
  ];
  if (first === undefined) return "";
  const [summary, details] = [first.summary.trim(), first.details.trim()];
  if (details.startsWith(summary)) return details;
  return details === "" ? summary : `${summary}\n\n${details}`;
}

/** Does not cut within a surrogate pair. */
function cut(text: string): string {
  if (text.length <= vulnerabilityDescriptionCharactersMax) return text;
  const kept = text.slice(0, vulnerabilityDescriptionCharactersMax);
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}

/** Each database stores them in its own field. */
function cwesOf({ databaseSpecific }: Advisory): string[] {
  const listed = [databaseSpecific["cwe_ids"], databaseSpecific["cwes"]].flat();
  const ids = listed.map((one) => (typeof one === "object" && one !== null && "cweId" in one ? one.cweId : one));
  return ids.filter((id) => typeof id === "string").filter((id) => /^CWE-\d{1,6}$/.test(id));
}

/** Leaves out the year 1, which some databases write for an unknown time. */
function inOrder(times: readonly string[]): string[] {
  const known = times.filter((time) => !time.startsWith("0001-"));
  return known.toSorted((one, other) => (one === other ? 0 : isNotOlder({ candidate: one, stored: other }) ? 1 : -1));
}
