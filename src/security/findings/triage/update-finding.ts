/**
 * The operation `update_finding`: sets the status, the false-positive flag and the note of a finding, and says in a sentence what
 * changed and how many findings of other versions followed.
 */
import { Type } from "@sinclair/typebox";
import { findingNoteCharactersMax } from "../../limits.ts";
import { textField } from "../../fields.ts";
import { operation } from "../../operation.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { triage, type TriageResult } from "./triage.ts";
import { ChangeView, findingId, findingStatuses, FindingStatusView, viewChanges } from "../schema.ts";

export const updateFinding = operation({
  title: "Update a finding",
  description:
    "Triages a finding: sets its status, whether it is a false positive, and a note. The decision is stored for this issue in this package " +
    "of the project: it survives new SBOMs and new versions.",
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
    note: Type.Optional(textField({ title: "The reason; an empty note removes it", max: findingNoteCharactersMax })),
  }),
  data: Type.Object(
    {
      finding_id: Type.String({ description: "Id of the finding" }),
      status: FindingStatusView,
      false_positive: Type.Boolean({ description: "Whether a person marked the match as wrong" }),
      note: Type.Union([Type.String(), Type.Null()], { description: "The reason for the decision" }),
      changes: Type.Array(ChangeView, { description: "What this call changed; empty when nothing changed" }),
      also_updated: Type.Integer({ description: "Findings of other versions of the package that followed" }),
    },
    { description: "The finding as it is now, and what this call changed" },
  ),
  async handle({ input, caller, parts }) {
    const { finding_id: finding, status, false_positive: falsePositive, note } = input;
    if (status === undefined && falsePositive === undefined && note === undefined) {
      throw new DomainError(
        "invalid_field",
        'Cannot update a finding without a change: at least one of "status", "false_positive" and "note" is needed',
      );
    }
    const decided = { finding, status: findingStatuses.find((known) => known === status), falsePositive, note };
    const made = await triage({ actor: caller.actor, workspace: caller.workspace, decided }, parts);
    return {
      data: {
        finding_id: finding,
        status: made.status,
        false_positive: made.falsePositive,
        note: made.note,
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
