/**
 * The operation `update_finding`: sets the status, the false-positive flag and the note of a finding, and says in a sentence what
 * changed and how many findings of other versions followed.
 */
import { Type } from "@sinclair/typebox";
import { findingNoteCharactersMax } from "../../limits.ts";
import { nameCharactersMax } from "../../../accounts/limits.ts";
import { lineOf, textField } from "../../fields.ts";
import { operation } from "../../operation.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { decisionViewFields, justifications, viewDecision, type DecisionFields } from "../decision.ts";
import { decisionFieldNames, triage, type TriageResult } from "./triage.ts";
import { ChangeView, findingId, findingStatuses, FindingStatusView, viewChanges } from "../schema.ts";

export const updateFinding = operation({
  title: "Update a finding",
  description:
    "Triages a finding: sets its status, whether it is a false positive, why it is not affected, until when its risk is accepted, its owner " +
    "and a note. The decision is stored for this issue in this package of the project: it survives new SBOMs and new versions.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  addition: true,
  input: Type.Object({
    finding_id: findingId,
    status: Type.Optional(
      Type.Union(
        findingStatuses.map((status) => Type.Literal(status)),
        { title: "The new status", description: `one of ${findingStatuses.join(", ")}` },
      ),
    ),
    false_positive: Type.Optional(Type.Boolean({ title: "Whether the match is wrong", description: "true or false" })),
    justification: Type.Optional(
      Type.Union(
        justifications.map((reason) => Type.Literal(reason)),
        { title: "Why it is not affected, for the status not_affected", description: `one of ${justifications.join(", ")}` },
      ),
    ),
    accepted_until: Type.Optional(
      lineOf({
        title: "Last day (UTC) of the accepted risk, such as 2026-12-31, for the status ignored; empty: no end",
        max: 10,
      }),
    ),
    owner: Type.Optional(
      lineOf({ title: "E-mail address of the member who takes care of it; empty: none", max: nameCharactersMax }),
    ),
    note: Type.Optional(textField({ title: "The reason; an empty note removes it", max: findingNoteCharactersMax })),
  }),
  data: Type.Object(
    {
      finding_id: Type.String({ description: "Id of the finding" }),
      status: FindingStatusView,
      false_positive: Type.Boolean({ description: "Whether a person marked the match as wrong" }),
      note: Type.Union([Type.String(), Type.Null()], { description: "The reason for the decision" }),
      ...decisionViewFields,
      changes: Type.Array(ChangeView, { description: "What this call changed; empty when nothing changed" }),
      also_updated: Type.Integer({ description: "Findings of other versions of the package that followed" }),
    },
    { description: "The finding as it is now, and what this call changed" },
  ),
  async handle({ input, caller, parts }) {
    const { finding_id: finding, status, false_positive: falsePositive, accepted_until: until, owner, note } = input;
    const decided: DecisionFields = {
      status: findingStatuses.find((known) => known === status),
      falsePositive,
      note,
      justification: justifications.find((known) => known === input.justification),
      acceptedUntil: until === "" ? null : until,
      owner: owner === "" ? null : owner,
    };
    if (Object.values(decided).every((value) => value === undefined)) {
      throw new DomainError(
        "invalid_field",
        `Cannot update a finding without a change: at least one of ${decisionFieldNames} is needed`,
      );
    }
    const made = await triage({ actor: caller.actor, workspace: caller.workspace, decided: { ...decided, finding } }, parts);
    return {
      data: {
        finding_id: finding,
        status: made.status,
        false_positive: made.falsePositive,
        note: made.decision.note,
        ...viewDecision(made.decision),
        changes: viewChanges(made.changes),
        also_updated: made.followed,
      },
      message: sentence(made),
    };
  },
});

function sentence({ target, changes, followed }: TriageResult): string {
  const named = `${target.name} in ${target.component}@${target.version}`;
  const parts = Object.entries(changes).map(([field, { from, to }]) =>
    field === "note" ? noteChange(from, to) : `${field} is ${String(to)}, was ${String(from)}`,
  );
  const others = followed === 0 ? "" : `; ${followed} of other versions followed`;
  return parts.length === 0 && followed === 0 ? `${named} is unchanged` : `${named}: ${parts.join(", ")}${others}`;
}

function noteChange(from: unknown, to: unknown): string {
  if (from === null) return "the note is set";
  return to === null ? "the note is removed" : "the note is changed";
}
