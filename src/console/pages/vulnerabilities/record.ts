/** Parts of a vulnerability that its page and those of findings show. */
import { markup, type Html } from "../../../http/html.ts";
import { outward } from "../../../http/page.ts";
import type { AffectedView, VulnerabilityRecord } from "../../../security/vulnerabilities/schema.ts";
import { table } from "../../look/table.ts";
import { userText } from "../../look/user-text.ts";
import { ecosystemName } from "../security/ecosystem.ts";
import { rangeWords } from "../security/range-words.ts";

/** Text of an advisory, paragraph by paragraph. @param charactersMax shows a longer one up to there */
export function descriptionText(text: string, charactersMax = Infinity): Html {
  const shown = text.length <= charactersMax ? text : `${cut(text, charactersMax)}…`;
  const paragraphs = shown.split(/\n\s*\n/).filter((one) => one.trim() !== "");
  if (paragraphs.length === 0) return markup`<p class="none">No advisory describes it.</p>`;
  return markup`${paragraphs.map(paragraph)}`;
}

/** Does not cut within a surrogate pair. */
function cut(text: string, charactersMax: number): string {
  const kept = text.slice(0, charactersMax);
  return (kept.isWellFormed() ? kept : kept.slice(0, -1)).trimEnd();
}

/** Advisories are written in Markdown, of which only headings are read: the rest is readable as it is. */
function paragraph(text: string): Html {
  const [, heading] = /^#{1,6} ([^\n]+)$/.exec(text.trim()) ?? [];
  return heading === undefined ? markup`<p dir="auto">${text.trim()}</p>` : markup`<p dir="auto"><strong>${heading}</strong></p>`;
}

/** null: there is nothing to show. */
export function affectedTable(affected: readonly AffectedView[]): Html | null {
  if (affected.length === 0) return null;
  return table<AffectedView>({
    caption: "Affected packages",
    captioned: true,
    columns: [
      { label: "Package", kind: "text", cell: ({ package: name }) => name },
      { label: "Ecosystem", kind: "text", cell: ({ ecosystem }) => ecosystemName(ecosystem) },
      { label: "Affected versions", kind: "text", cell: affectedVersions },
      { label: "Fixed in", kind: "text", cell: ({ fixed }) => (fixed.length === 0 ? null : fixed.join(", ")) },
    ],
    rows: affected,
    empty: markup``,
  });
}

function affectedVersions({ ranges, versions, versions_total: total }: AffectedView): Html {
  const said = ranges.map(rangeWords).join("; ");
  const more = total > versions.length ? ` and ${total - versions.length} more` : "";
  const listed = versions.length === 0 ? "" : `${versions.join(", ")}${more}`;
  if (said === "") return userText(listed === "" ? "none named" : listed);
  return markup`${userText(said)}${listed === "" ? null : markup`<details><summary>Listed one by one: ${total}</summary>${userText(listed)}</details>`}`;
}

/** Links of advisories: those that are not of the web are left out. */
export function referenceList(references: VulnerabilityRecord["references"]): Html | null {
  const shown = references.filter(({ url }) => /^https?:\/\/[^\s]+$/.test(url));
  if (shown.length === 0) return null;
  return markup`<ul>${shown.map(({ type, url }) => markup`<li>${outward(url, userText(url))}${type === "WEB" ? null : markup` <span class="under">${type.toLowerCase()}</span>`}</li>`)}</ul>`;
}
