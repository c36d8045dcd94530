/**
 * Translates a decision about a finding to CycloneDX's `vulnerabilities[].analysis`
 * (https://cyclonedx.org/docs/1.6/json/#vulnerabilities_items_analysis), and back.
 *
 * Ignoring a finding accepts a risk; it does not claim that the product is not affected. Only the status `not_affected` makes that claim,
 * with its justification. CycloneDX has no place for the end of an accepted risk or for an owner: an import leaves both as they are.
 */
import { findingNoteCharactersMax } from "../../limits.ts";
import type { FindingStatus } from "../schema.ts";
import type { Justification } from "../decision.ts";

export const analysisStates = [
  "resolved",
  "resolved_with_pedigree",
  "exploitable",
  "in_triage",
  "false_positive",
  "not_affected",
] as const;
type AnalysisState = (typeof analysisStates)[number];

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
  /** null for other statuses than `not_affected`. */
  justification: Justification | null;
}

/** The analysis of a decision. */
export function analysisOf({ status, falsePositive, note, justification }: Decided): Analysis {
  const detail = note === null ? {} : { detail: note };
  if (falsePositive) return { state: "false_positive", ...detail };
  if (status === "resolved") return { state: "resolved", ...detail };
  if (status === "in_progress") return { state: "exploitable", response: ["update"], ...detail };
  if (status === "ignored") return { state: "exploitable", response: ["will_not_fix"], ...detail };
  if (status === "not_affected") return { state: "not_affected", ...(justification !== null && { justification }), ...detail };
  return { state: "in_triage", ...detail };
}

/** @returns `note` null: the analysis has no text, and the current note stays */
export function decisionOf({ state, justification, response = [], detail }: Analysis): Decided {
  const rest = { falsePositive: state === "false_positive", note: noteOf(detail), justification: null };
  switch (state) {
    case "not_affected":
      return { ...rest, status: "not_affected", justification: justification ?? null };
    case "resolved":
    case "resolved_with_pedigree":
      return { ...rest, status: "resolved" };
    case "false_positive":
    case "in_triage":
      return { ...rest, status: "open" };
    case "exploitable":
      return { ...rest, status: exploitableStatus(response) };
  }
}

/** Notes have no control characters except tabs and line breaks. */
function noteOf(text: string | undefined): string | null {
  const clean = (text ?? "").replace(/[^\P{Cc}\t\n\r]/gu, " ").trim();
  return clean === "" ? null : clean.slice(0, findingNoteCharactersMax);
}

function exploitableStatus(response: readonly string[]): FindingStatus {
  if (response.includes("will_not_fix") || response.includes("can_not_fix")) return "ignored";
  return response.length > 0 ? "in_progress" : "open";
}
