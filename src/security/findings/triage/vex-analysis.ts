/**
 * Translates a decision about a finding to CycloneDX's `vulnerabilities[].analysis`
 * (https://cyclonedx.org/docs/1.6/json/#vulnerabilities_items_analysis), and back.
 *
 * Ignoring a finding accepts a risk; it does not claim that the product is not affected. Only a note that begins with `not_affected` and a
 * justification, as imports write it, becomes that claim.
 */
import { findingNoteCharactersMax } from "../../limits.ts";
import type { FindingStatus } from "../schema.ts";

export const analysisStates = [
  "resolved",
  "resolved_with_pedigree",
  "exploitable",
  "in_triage",
  "false_positive",
  "not_affected",
] as const;
type AnalysisState = (typeof analysisStates)[number];

export const justifications = [
  "code_not_present",
  "code_not_reachable",
  "requires_configuration",
  "requires_dependency",
  "requires_environment",
  "protected_by_compiler",
  "protected_at_runtime",
  "protected_at_perimeter",
  "protected_by_mitigating_control",
] as const;
type Justification = (typeof justifications)[number];

export interface Analysis {
  state: AnalysisState;
  justification?: Justification;
  response?: string[];
  detail?: string;
}

export interface Decided {
  status: FindingStatus;
  falsePositive: boolean;
  note: string | null;
}

/** The analysis of a decision. */
export function analysisOf({ status, falsePositive, note }: Decided): Analysis {
  const detail = note === null ? {} : { detail: note };
  if (falsePositive) return { state: "false_positive", ...detail };
  if (status === "resolved") return { state: "resolved", ...detail };
  if (status === "in_progress") return { state: "exploitable", response: ["update"], ...detail };
  if (status === "ignored") return notAffected(note) ?? { state: "exploitable", response: ["will_not_fix"], ...detail };
  return { state: "in_triage", ...detail };
}

/** @returns `note` null: the analysis has no text, and the current note stays */
export function decisionOf({ state, justification, response = [], detail }: Analysis): Decided {
  const note = noteOf(detail);
  switch (state) {
    case "false_positive":
      return { status: "open", falsePositive: true, note };
    case "not_affected":
      return { status: "ignored", falsePositive: false, note: notAffectedNote(justification, detail) };
    case "resolved":
    case "resolved_with_pedigree":
      return { status: "resolved", falsePositive: false, note };
    case "in_triage":
      return { status: "open", falsePositive: false, note };
    case "exploitable":
      return { status: exploitableStatus(response), falsePositive: false, note };
  }
}

function notAffected(note: string | null): Analysis | null {
  const written = /^not_affected(?:: ([a-z_]+))?(?:\. (.+))?$/s.exec(note ?? "");
  if (written === null) return null;
  const [, word, detail] = written;
  const justification = justifications.find((one) => one === word);
  if (word !== undefined && justification === undefined) return null;
  return { state: "not_affected", ...(justification && { justification }), ...(detail !== undefined && { detail }) };
}

/** Notes have no control characters except tabs and line breaks. */
function noteOf(text: string | undefined): string | null {
  const clean = (text ?? "").replace(/[^\P{Cc}\t\n\r]/gu, " ").trim();
  return clean === "" ? null : clean.slice(0, findingNoteCharactersMax);
}

function notAffectedNote(justification: Justification | undefined, detail: string | undefined): string | null {
  const claim = justification === undefined ? "not_affected" : `not_affected: ${justification}`;
  return noteOf(detail === undefined || detail.trim() === "" ? claim : `${claim}. ${detail}`);
}

function exploitableStatus(response: readonly string[]): FindingStatus {
  if (response.includes("will_not_fix") || response.includes("can_not_fix")) return "ignored";
  return response.length > 0 ? "in_progress" : "open";
}
