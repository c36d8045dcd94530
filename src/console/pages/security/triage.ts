/**
 * The states of findings in words, and the form that decides about one finding or several. A decision applies to all selected findings or
 * to none.
 */
import { DomainError } from "../../../accounts/errors.ts";
import { findingEndpoints } from "../../../control-api/endpoints/findings.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FindingStatus } from "../../../security/findings/schema.ts";
import type { TriagedMany } from "../../../security/findings/triage/triage.ts";
import { findingNoteCharactersMax, findingsTriagedMax } from "../../../security/limits.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, PageCall } from "../../page.ts";
import { type Choice, type Filter, fieldElement, type Field } from "../../look/forms.ts";
import { badge, section, type Tone } from "../../look/parts.ts";

const states: Record<FindingStatus, { tone: Tone; word: string }> = {
  open: { tone: "warn", word: "open" },
  in_progress: { tone: "neutral", word: "in progress" },
  ignored: { tone: "neutral", word: "ignored" },
  resolved: { tone: "good", word: "resolved" },
};

export const statusChoices: readonly Choice[] = [
  { value: "open", label: "Open" },
  { value: "in_progress", label: "In progress" },
  { value: "ignored", label: "Ignored: the risk is accepted" },
  { value: "resolved", label: "Resolved" },
];

export function statusBadge({ status, false_positive: wrong }: { status: FindingStatus; false_positive: boolean }): Html {
  const { tone, word } = states[status];
  return markup`${badge(wrong ? "neutral" : tone, word)}${wrong ? markup` ${badge("neutral", "false positive")}` : null}`;
}

/** Without a choice, the list shows what is left to do. */
export function statusFilter(value: string): Filter {
  const choices = [
    { value: "", label: "To do" },
    { value: "open", label: "Open" },
    { value: "in_progress", label: "In progress" },
    { value: "ignored", label: "Ignored" },
    { value: "resolved", label: "Resolved" },
    { value: "false_positive", label: "False positive" },
    { value: "all", label: "All" },
  ];
  return { name: "status", label: "Status", kind: "choice", value, choices };
}

// The form that decides about findings, one or several, and what it does.

export const note: Field = {
  kind: "lines",
  name: "note",
  label: "Note",
  rows: 3,
  hint: "The reason, for the next reader.",
  charactersMax: findingNoteCharactersMax,
};

const matchChoices = [
  { value: "", label: "Leave as it is" },
  { value: "true", label: "The match is wrong: a false positive" },
  { value: "false", label: "The match is right" },
];

const bulkFields: readonly Field[] = [
  { kind: "choice", name: "status", label: "Status", choices: [{ value: "", label: "Leave as it is" }, ...statusChoices] },
  { kind: "choice", name: "false_positive", label: "Match", choices: matchChoices },
  { ...note, hint: "The reason, for the next reader. If empty, notes stay as they are." },
];

/** The checkboxes of the rows belong to this form by its id, so that it can be below their table. */
export const bulkFormId = "triage";

export function bulkForm(call: PageCall): Html {
  const { values, problem } = formState(call, { action: "triage" });
  const isNamed = problem !== null && bulkFields.some(({ name }) => name === problem.field);
  const element = (field: Field): Html =>
    fieldElement(field, {
      prefix: bulkFormId,
      value: values[field.name] ?? "",
      problem: isNamed && problem.field === field.name ? problem.message : null,
    });
  const body = markup`<p class="hint">A decision holds for this vulnerability in this package of the project, also after new versions and SBOMs. It applies to all selected findings or to none.</p>
    <form class="form" id="${bulkFormId}" method="post" action="${call.path}?${call.query.toString()}" data-guards>
      ${problem === null || isNamed ? null : markup`<p class="notice bad" role="alert"><bdi>${problem.message}</bdi></p>`}
      ${Object.entries(hiddenFields(call, "triage")).map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}" />`)}
      ${bulkFields.map(element)}
      <div class="form-end"><button type="submit">Apply to the selected findings</button></div>
    </form>`;
  return section("triage", "Triage the selected findings", body);
}

/** @throws DomainError invalid_field without a finding or a decision */
export async function triageChosen(call: PageCall, form: FormFields): Promise<TriagedMany> {
  const findings = form.all("finding");
  if (findings.length === 0) throw new DomainError("invalid_field", "Select at least one finding");
  if (findings.length > findingsTriagedMax)
    throw new DomainError("invalid_field", `Select at most ${findingsTriagedMax} findings`);
  const status = form.text("status");
  const match = form.text("false_positive");
  const reason = form.text("note");
  if (status === "" && match === "" && reason === "")
    throw new DomainError("invalid_field", "Choose a status or a match, or write a note", { field: "status" });
  return call.control(findingEndpoints.triage, {
    findings,
    ...(status !== "" && { status }),
    ...(match !== "" && { false_positive: match === "true" }),
    ...(reason !== "" && { note: form.raw("note").replaceAll("\r\n", "\n").trim() }),
  });
}

export function triagedWords({ updated, unchanged, also_updated: followed }: TriagedMany): string {
  const parts = [
    `${updated.length} ${updated.length === 1 ? "finding is" : "findings are"} updated`,
    ...(unchanged.length === 0 ? [] : [`${unchanged.length} had this decision already`]),
    ...(followed === 0 ? [] : [`${followed} of other versions followed`]),
  ];
  return `${parts.join(", ")}.`;
}
