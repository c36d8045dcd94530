/** Severities as badges and as choices of a filter. */
import { markup, type Html } from "../../../http/html.ts";
import { severities, type Severity } from "../../../security/findings/schema.ts";
import type { VulnerabilityCounts } from "../../../security/findings/lists/list-rows.ts";
import { badge, type Tone } from "../../look/badge.ts";
import type { Filter } from "../../look/forms/filter-form.ts";

const tones: Record<Severity, Tone> = { critical: "bad", high: "bad", medium: "warn", low: "neutral" };

/** @param score CVSS; null: none */
export function severityBadge(severity: Severity | null, score: number | null = null): Html {
  const words = severity ?? "not rated";
  return badge(severity === null ? "neutral" : tones[severity], score === null ? words : `${words} ${score.toFixed(1)}`);
}

/**
 * How many there are of each severity; severities without any are left out.
 * @param isKnown false: nothing was compared, so that no vulnerabilities are no verdict
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
