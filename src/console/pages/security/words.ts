/**
 * Severities, ecosystems and ranges of versions as badges, words and choices of filters, the same on all security pages. Text in an unknown
 * form stays as it is.
 */
import { markup, type Html } from "../../../http/html.ts";
import type { FindingRow, VulnerabilityCounts } from "../../../security/findings/lists/list-rows.ts";
import { severities, type Severity, ecosystemNames, type EcosystemName } from "../../../security/findings/schema.ts";
import type { Filter } from "../../look/forms.ts";
import { badge, type Tone } from "../../look/parts.ts";

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
