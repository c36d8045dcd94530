/**
 * The states of findings in words, and the form that decides about one finding or several. A decision applies to all selected findings or
 * to none, except for those that someone decided about after the page was loaded: they are left, and named in the answer.
 */
import { DomainError } from "../../../accounts/errors.ts";
import { asTyped, type GivenTo, type TypedText } from "../../../control-api/endpoint.ts";
import { findingEndpoints } from "../../../control-api/endpoints/findings.ts";
import { memberEndpoints } from "../../../control-api/endpoints/members.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FindingStatus } from "../../../security/findings/schema.ts";
import { justifications, type Justification } from "../../../security/findings/decision.ts";
import type { TriagedMany } from "../../../security/findings/triage/triage.ts";
import { findingNoteCharactersMax, findingsTriagedMax } from "../../../security/limits.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, PageCall, PageContent } from "../../page.ts";
import { type Choice, type Filter, fieldElement, hiddenInputs, type Field } from "../../look/forms.ts";
import { badge, emptyState, notice, table, time, userText, type Tone } from "../../look/parts.ts";

const states: Record<FindingStatus, { tone: Tone; word: string }> = {
  open: { tone: "warn", word: "open" },
  in_progress: { tone: "neutral", word: "in progress" },
  ignored: { tone: "neutral", word: "ignored" },
  resolved: { tone: "good", word: "resolved" },
  not_affected: { tone: "good", word: "not affected" },
};

export const statusChoices: readonly Choice[] = [
  { value: "open", label: "Open" },
  { value: "in_progress", label: "In progress" },
  { value: "not_affected", label: "Not affected" },
  { value: "ignored", label: "Ignored: the risk is accepted" },
  { value: "resolved", label: "Resolved" },
];

export const justificationWords: Record<Justification, string> = {
  code_not_present: "The vulnerable code is not present",
  code_not_reachable: "The vulnerable code is not reachable",
  requires_configuration: "Requires a configuration that is not set",
  requires_dependency: "Requires a dependency that is not present",
  requires_environment: "Requires an environment that is not used",
  protected_by_compiler: "Protected by the compiler",
  protected_at_runtime: "Protected at run time",
  protected_at_perimeter: "Protected at the perimeter",
  protected_by_mitigating_control: "Protected by another control",
};

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
    { value: "not_affected", label: "Not affected" },
    { value: "ignored", label: "Ignored" },
    { value: "resolved", label: "Resolved" },
    { value: "false_positive", label: "False positive" },
    { value: "all", label: "All" },
  ];
  return { name: "status", label: "Status", kind: "choice", value, choices };
}

// The forms that decide about findings, one or several, and what they send.

/** Members that a form offers as owners; where there are more, their address is typed. */
const ownersOffered = 100;

/** null: there are too many to offer. */
export async function ownerChoices(call: PageCall, current: string | null = null): Promise<Choice[] | null> {
  const { data } = await call.control(memberEndpoints.list, { limit: String(ownersOffered + 1) });
  if (data.length > ownersOffered) return null;
  const active = data.filter(({ state }) => state === "active").map(({ email }) => email);
  const all = current === null || active.includes(current) ? active : [current, ...active];
  return all.map((email) => ({ value: email, label: email }));
}

/** What a decision has besides its status. @param owners null: too many to offer @param unset what no choice means */
export function reasonFields({ owners, unset }: { owners: readonly Choice[] | null; unset: readonly Choice[] }): Field[] {
  const owner = { name: "owner", label: "Owner", hint: "The member who takes care of it." };
  return [
    {
      kind: "choice",
      name: "justification",
      label: "Why it is not affected",
      hint: "Only for “Not affected”; the VEX document has it.",
      choices: [
        { value: "", label: "Without a reason" },
        ...justifications.map((value) => ({ value, label: justificationWords[value] })),
      ],
    },
    {
      kind: "date",
      name: "accepted_until",
      label: "Accepted until",
      hint: "Only for “Ignored”. After this day, in UTC, the finding is open again. If empty, it has no end.",
    },
    owners === null ? { kind: "email", ...owner } : { kind: "choice", ...owner, choices: [...unset, ...owners] },
    note,
  ];
}

export const note: Field = {
  kind: "lines",
  name: "note",
  label: "Note",
  rows: 3,
  hint: "The reason, for the next reader.",
  charactersMax: findingNoteCharactersMax,
};

/** The reason and the end of a decision, as the control API takes them: only those that the status has, or that are set without one. */
export function reasonsOf(form: FormFields): Pick<GivenTo<typeof findingEndpoints.triage>, "justification" | "accepted_until"> {
  const status = form.text("status");
  const sent = (name: string, owner: FindingStatus) =>
    status === owner || (status === "" && form.text(name) !== "")
      ? { [name]: form.text(name) === "" ? null : form.text(name) }
      : {};
  return { ...sent("justification", "not_affected"), ...sent("accepted_until", "ignored") };
}

const matchChoices = [
  { value: "", label: "Leave as it is" },
  { value: "true", label: "The match is wrong: a false positive" },
  { value: "false", label: "The match is right" },
];

/** The choice of no owner, as opposed to leaving the owner as it is. */
const nobody = "none";

/** Whom a finding is given to is chosen on its page; here, where many are read, one takes them oneself. */
function bulkFields({ viewer: { email } }: PageCall): Field[] {
  const owners = email === null ? [] : [{ value: email, label: "Me" }];
  const unset = [
    { value: "", label: "Leave as it is" },
    { value: nobody, label: "Nobody" },
  ];
  return [
    { kind: "choice", name: "status", label: "Status", choices: [{ value: "", label: "Leave as it is" }, ...statusChoices] },
    ...reasonFields({ owners, unset }).map((field) => hintOf(field)),
    { kind: "choice", name: "false_positive", label: "Match", choices: matchChoices },
  ];
}

const bulkHints: Readonly<Record<string, string>> = {
  note: "The reason, for the next reader. If empty, notes stay as they are.",
  owner: "The member who takes care of it. On the finding’s page, it can be any.",
};

function hintOf(field: Field): Field {
  const hint = bulkHints[field.name];
  return hint === undefined ? field : { ...field, hint };
}

/**
 * What the checkbox of a row sends: the finding, and the decision that the page shows, so that a newer one is not overwritten. The id comes
 * first.
 */
export function chosenValue({ id, decided_at: at }: { id: string; decided_at: string | null }): string {
  return `${id}${seenMark}${at ?? ""}`;
}

const seenMark = "@";

/** The ids of the chosen findings, and when the decision about each was made that the page showed. */
function chosenIn(form: FormFields): { findings: TypedText[]; seen: (TypedText | null)[] | null } {
  const chosen = form.all("finding").map((value) => value.split(seenMark).map(asTyped));
  const seen = chosen.map(([, at = null]) => (at === "" ? null : at));
  // A form that is not of these pages names findings alone.
  return { findings: chosen.map(([id = asTyped("")]) => id), seen: chosen.some(([, at]) => at === undefined) ? null : seen };
}

/** The ids that a refused form chose. */
export function chosenIds(form: FormFields): ReadonlySet<string> {
  return new Set(chosenIn(form).findings);
}

/** The checkboxes of the rows belong to this form by its id, so that it can be below their table. */
export const bulkFormId = "triage";

export function bulkForm(call: PageCall): Html {
  const fields = bulkFields(call);
  const { values, problem } = formState(call, { action: "triage" });
  const isNamed = problem !== null && fields.some(({ name }) => name === problem.field);
  const element = (field: Field): Html =>
    fieldElement(field, {
      prefix: bulkFormId,
      value: values[field.name] ?? "",
      problem: isNamed && problem.field === field.name ? problem.message : null,
    });
  return markup`<section aria-labelledby="${bulkFormId}-title" data-bar>
    <h2 id="${bulkFormId}-title">Triage the selected findings</h2>
    <p class="bar-head"><strong data-count role="status"></strong><button type="button" class="quiet small" data-clears hidden>Select none</button></p>
    <p class="hint">A decision holds for this vulnerability in this package of the project, also after new versions and SBOMs. It applies to all selected findings or to none; what someone decides meanwhile is not overwritten.</p>
    <form class="form" id="${bulkFormId}" method="post" action="${call.path}?${call.query.toString()}" data-guards>
      ${problem === null || isNamed ? null : markup`<p class="notice bad" role="alert"><bdi>${problem.message}</bdi></p>`}
      ${hiddenInputs(hiddenFields(call, "triage"))}
      ${fields.map(element)}
      <div class="form-end"><button type="submit">Apply<span class="bar-less"> to the selected findings</span></button></div>
    </form>
  </section>`;
}

/** @throws DomainError invalid_field without a finding or a decision */
export async function triageChosen(call: PageCall, form: FormFields): Promise<TriagedMany> {
  const { findings, seen } = chosenIn(form);
  if (findings.length === 0) throw new DomainError("invalid_field", "Select at least one finding");
  if (findings.length > findingsTriagedMax)
    throw new DomainError("invalid_field", `Select at most ${findingsTriagedMax} findings`);
  const status = form.text("status");
  const match = form.text("false_positive");
  const reason = form.text("note");
  const owner = form.text("owner");
  const reasons = reasonsOf(form);
  if ([status, match, reason, owner].every((one) => one === "") && Object.keys(reasons).length === 0)
    throw new DomainError("invalid_field", "Choose a status, a match or an owner, or write a note", { field: "status" });
  return call.control(findingEndpoints.triage, {
    findings,
    ...(seen !== null && { seen_decided_at: seen }),
    ...(status !== "" && { status }),
    ...(match !== "" && { false_positive: match === "true" }),
    ...reasons,
    ...(owner !== "" && { owner: owner === nobody ? null : owner }),
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

/** What a decision about several findings left, since someone decided about them meanwhile. @param backPath the list */
export function leftContent(made: TriagedMany, { call, backPath }: { call: PageCall; backPath: string }): PageContent {
  const { decided_meanwhile: left = [] } = made;
  const [one, are] = left.length === 1 ? ["1 finding", "is"] : [`${left.length} findings`, "are"];
  const words = `${triagedWords(made)} ${one} ${are} left as ${are === "is" ? "it was" : "they were"} decided meanwhile.`;
  return {
    title: "Decided meanwhile",
    lead: "Someone decided about these findings after you had loaded the list. Look at each decision, then decide again.",
    trail: [{ path: backPath, label: "Findings" }],
    main: markup`${notice({ tone: "warn", words })}${table<LeftFinding>({
      caption: "Findings that are left",
      columns: [
        { label: "Vulnerability", kind: "text", cell: (row) => leftLink(row, call) },
        { label: "Component", kind: "text", cell: (row) => `${row.component} ${row.component_version}`.trim() },
        { label: "Status now", kind: "badge", cell: statusBadge },
        { label: "Decided by", kind: "text", cell: ({ decided_by: by }) => by },
        { label: "When", kind: "time", cell: ({ decided_at: at }) => time(at) },
      ],
      rows: left,
      empty: emptyState("Nothing is left.", null),
    })}<p><a class="button quiet" href="${backPath}">Back to the list</a></p>`,
  };
}

type LeftFinding = NonNullable<TriagedMany["decided_meanwhile"]>[number];

function leftLink({ id, cve_id: name }: LeftFinding, call: PageCall): Html {
  return markup`<a href="${call.link(`/findings/${id}`)}">${userText(name)}</a>`;
}
