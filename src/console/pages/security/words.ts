/**
 * Severities, ecosystems, ranges of versions and what is known of exploits as badges, words and choices of filters, the same on all security pages. Text in an unknown
 * form stays as it is.
 */
import { markup, type Html } from "../../../http/html.ts";
import type { FindingRow, VulnerabilityCounts } from "../../../security/findings/lists/list-rows.ts";
import { severities, type Severity, ecosystemNames, type EcosystemName } from "../../../security/findings/schema.ts";
import type { ComponentView } from "../../../security/projects/schema.ts";
import type { Filter } from "../../look/forms.ts";
import type { ListColumn } from "../../look/list-view.ts";
import { badge, day, type Tone } from "../../look/parts.ts";

const tones: Record<Severity, Tone> = { critical: "bad", high: "bad", medium: "warn", low: "neutral" };

/** @param score CVSS; null: none */
export function severityBadge(
  severity: Severity | null,
  score: number | null = null,
  basis: FindingRow["severity_basis"] = null,
): Html {
  if (basis === "malware") return badge("bad", `${severity ?? "critical"}, malware`);
  const words = severity ?? "not rated";
  return badge(severity === null ? "neutral" : tones[severity], score === null ? words : `${words} ${score.toFixed(1)}`);
}

/** Where a severity comes from; null: there is none. */
export function basisText(basis: FindingRow["severity_basis"]): string | null {
  return basis === null ? null : bases[basis];
}

const bases = {
  vector: "the score of a CVSS vector",
  word: "the advisory's word: it has no valid CVSS vector",
  malware: "the package is malware, which is critical",
};

/**
 * How many there are of each severity, without zeros.
 * @param isKnown false: nothing was compared, so "no vulnerabilities" would be no verdict
 */
export function severityCounts(counts: VulnerabilityCounts, isKnown = true): Html {
  if (counts.total === 0) return markup`<span class="none">${isKnown ? "none" : "not known"}</span>`;
  const badges = severities.flatMap((severity) =>
    counts[severity] === 0 ? [] : [badge(tones[severity], `${counts[severity].toLocaleString("en-US")} ${severity}`)],
  );
  const unrated = counts.unknown === 0 ? [] : [badge("neutral", `${counts.unknown.toLocaleString("en-US")} not rated`)];
  return markup`${[...badges, ...unrated].map((one, index) => (index === 0 ? one : markup` ${one}`))}`;
}

export function severityFilter(value: string): Filter {
  const choices = [{ value: "", label: "Any" }, ...severities.map((word) => ({ value: word, label: word }))];
  return { name: "severity", label: "Severity", kind: "choice", value, choices };
}

const names: Record<EcosystemName, string> = {
  npm: "npm",
  pypi: "PyPI",
  maven: "Maven",
  go: "Go",
  cargo: "Cargo",
  rubygems: "RubyGems",
  nuget: "NuGet",
};

/** As the ecosystem spells its name; another text stays. */
export function ecosystemName(word: string | null): string | null {
  return ecosystemNames.flatMap((known) => (known === word ? [names[known]] : []))[0] ?? word;
}

export function ecosystemFilter(value: string): Filter {
  const choices = [{ value: "", label: "Any" }, ...ecosystemNames.map((word) => ({ value: word, label: names[word] }))];
  return { name: "ecosystem", label: "Ecosystem", kind: "choice", value, choices };
}

/** How a project depends on a component. */
export function relationName(relation: ComponentView["relation"]): string {
  return relation === "unknown" ? "not known" : relation;
}

// Ranges of versions in words.

/** @param range such as `>= 1.2.0, < 1.2.9` @returns such as `1.2.0 or later, before 1.2.9`; text in another form stays */
export function rangeWords(range: string): string {
  const parts = range.split(",").map((part) => /^\s*(>=|<=|<|>|=)\s*(\S+)\s*$/.exec(part));
  const words = parts.map((part) => (part === null ? null : boundWords(part[1] ?? "", part[2] ?? "")));
  if (words.includes(null)) return range;
  const said = words.filter((word) => word !== "");
  return said.length === 0 ? "every version" : said.join(", ");
}

/** Every version is 0 or later, so that bound is left out. */
function boundWords(comparator: string, version: string): string {
  if (comparator === ">=") return version === "0" ? "" : `${version} or later`;
  if (comparator === "<") return `before ${version}`;
  if (comparator === "<=") return `${version} or earlier`;
  return comparator === ">" ? `after ${version}` : `${version} alone`;
}

/** Orders projects by their worst vulnerabilities: one critical is more than any number of high ones. */
export function severityRank(counts: VulnerabilityCounts): bigint {
  return [...severities.map((severity) => counts[severity]), counts.unknown].reduce(
    (rank, count) => rank * 10_000_000n + BigInt(count),
    0n,
  );
}

export const severityColumn: ListColumn<
  Pick<FindingRow, "severity" | "cvss_score"> & { severity_basis?: FindingRow["severity_basis"] }
> = {
  name: "severity",
  label: "Severity",
  kind: "badge",
  cell: ({ severity, cvss_score: score, severity_basis: basis = null }) => severityBadge(severity, score, basis),
  // A score is at most 10.
  by: ({ severity, cvss_score: score }) => (severity === null ? null : -11 * severities.indexOf(severity) + (score ?? 0)),
  largestFirst: true,
};

// What is known of exploits.

/** @param since a date; null: it is not in CISA's catalog */
function exploitedBadge(since: string | null): Html | null {
  return since === null ? null : markup`<span title="In CISA’s catalog since ${day(since)}">${badge("bad", "exploited")}</span>`;
}

/** The probability in percent; one that rounds to zero is below a tenth. */
function epssText(epss: number | null): string | null {
  if (epss === null) return null;
  const percent = epss * 100;
  return percent < 0.1 ? "< 0.1 %" : `${percent.toFixed(1)} %`;
}

interface Exploit {
  known_exploited_since: string | null;
  epss: number | null;
  epss_percentile: number | null;
}

/** What is known of exploits, in lists of findings and of vulnerabilities. */
export const exploitColumns: readonly ListColumn<Pick<Exploit, "known_exploited_since" | "epss">>[] = [
  {
    name: "exploited",
    label: "Exploited",
    kind: "badge",
    cell: ({ known_exploited_since: since }) => exploitedBadge(since),
    by: ({ known_exploited_since: since }) => since,
    largestFirst: true,
  },
  { name: "epss", label: "EPSS", kind: "number", cell: ({ epss }) => epssText(epss), by: ({ epss }) => epss },
];

/** What is known of exploits, as facts of a finding or of a vulnerability. */
export function exploitFacts({ known_exploited_since: since, epss, epss_percentile: percentile }: Exploit) {
  const exploited = since === null ? null : markup`${exploitedBadge(since)} in CISA’s catalog since ${day(since)}`;
  const rest = percentile === null ? "" : `, more than ${Math.floor(percentile * 100)} % of all vulnerabilities`;
  const words = epss === null ? null : `${epssText(epss) ?? ""} within 30 days${rest}`;
  return [["Exploited", exploited] as const, ["EPSS", words] as const];
}
