/**
 * Translates a decision about a finding to CycloneDX's `vulnerabilities[].analysis`
 * (https://cyclonedx.org/docs/1.6/json/#vulnerabilities_items_analysis), and back. OpenVEX and CSAF share four statuses and five
 * justifications (https://www.cisa.gov/sites/default/files/publications/VEX_Status_Justification_Jun22.pdf), which are translated to an
 * analysis first. Where a decision has no word of theirs, a sentence says it, which an import reads back.
 *
 * Ignoring a finding accepts a risk; it does not claim that the product is not affected. Only the status `not_affected` makes that claim,
 * with its justification. No format has a place for the end of an accepted risk or for an owner: an import leaves both as they are.
 */
import { findingNoteCharactersMax } from "../../limits.ts";
import type { FindingStatus } from "../schema.ts";
import { justifications, type Justification } from "../decision.ts";

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
  const rest = { falsePositive: state === "false_positive", note: cleanNote(detail), justification: null };
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

/** The justifications that OpenVEX and CSAF share. */
export const sharedJustifications = [
  "component_not_present",
  "vulnerable_code_not_present",
  "vulnerable_code_not_in_execute_path",
  "vulnerable_code_cannot_be_controlled_by_adversary",
  "inline_mitigations_already_exist",
] as const;
type SharedJustification = (typeof sharedJustifications)[number];

const readAs: Record<SharedJustification, Justification> = {
  component_not_present: "code_not_present",
  vulnerable_code_not_present: "code_not_present",
  vulnerable_code_not_in_execute_path: "code_not_reachable",
  vulnerable_code_cannot_be_controlled_by_adversary: "requires_environment",
  inline_mitigations_already_exist: "protected_by_mitigating_control",
};

/** What is required to exploit the code is not there, so no one controls it. A protected perimeter is not in the product: it has no word. */
const writtenAs: Record<Justification, SharedJustification | null> = {
  code_not_present: "vulnerable_code_not_present",
  code_not_reachable: "vulnerable_code_not_in_execute_path",
  requires_configuration: "vulnerable_code_cannot_be_controlled_by_adversary",
  requires_dependency: "vulnerable_code_cannot_be_controlled_by_adversary",
  requires_environment: "vulnerable_code_cannot_be_controlled_by_adversary",
  protected_by_compiler: "inline_mitigations_already_exist",
  protected_at_runtime: "inline_mitigations_already_exist",
  protected_at_perimeter: null,
  protected_by_mitigating_control: "inline_mitigations_already_exist",
};

/** Why a product is not affected, in the words of OpenVEX and CSAF. */
export interface Impact {
  label: SharedJustification | null;
  /** What the label does not say. */
  text: string;
}

const falselyIdentified = "False positive: the match is wrong";
const noReason = "No reason was given";
const reasonWords = "The reason in CycloneDX's words: ";

/** The impact of a decision that claims that the product is not affected. */
export function impactOf({ falsePositive, justification }: Decided): Impact {
  if (falsePositive) return { label: "component_not_present", text: falselyIdentified };
  if (justification === null) return { label: null, text: noReason };
  return { label: writtenAs[justification], text: `${reasonWords}${justification}` };
}

/** @param text may be somebody else's: it is kept as the note, unless there is one */
export function notAffected({ label, text, note }: { label: unknown; text: unknown; note: string | null }): Analysis {
  const said = typeof text === "string" ? text.trim() : "";
  if (said === falselyIdentified) return { state: "false_positive", ...(note !== null && { detail: note }) };
  const named = said.startsWith(reasonWords) ? justifications.find((one) => one === said.slice(reasonWords.length)) : undefined;
  const shared = sharedJustifications.find((one) => one === label);
  const justification = named ?? (shared && readAs[shared]);
  const detail = note ?? (named !== undefined || said === noReason || said === "" ? null : said);
  return { state: "not_affected", ...(justification && { justification }), ...(detail !== null && { detail }) };
}

/** Notes have no control characters except tabs and line breaks. @returns null for anything but a text, and for an empty one */
export function cleanNote(given: unknown): string | null {
  const clean = (typeof given === "string" ? given : "").replace(/[^\P{Cc}\t\n\r]/gu, " ").trim();
  return clean === "" ? null : clean.slice(0, findingNoteCharactersMax);
}

function exploitableStatus(response: readonly string[]): FindingStatus {
  if (response.length === 0) return "open";
  return response.every((word) => word === "will_not_fix" || word === "can_not_fix") ? "ignored" : "in_progress";
}
