import { Type } from "@sinclair/typebox";
import { findingNoteCharactersMax } from "../../limits.ts";
import { text } from "../../api/operations/fields.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { operation } from "../../api/operations/operation.ts";
import { decide, type TriageResult } from "./triage.ts";
import { ChangeView, findingId, findingStatuses, FindingStatusView, viewChanges } from "../schema.ts";

export const updateFinding = operation({
  title: "Update a finding",
  description:
    "Decides what becomes of a finding: its status, whether it is a false positive, a note. The decision is kept for this issue in this " +
    "package of the project: it survives new documents and new versions.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  addition: true,
  input: Type.Object({
    finding_id: findingId,
    status: Type.Optional(
      Type.Union(
        findingStatuses.map((status) => Type.Literal(status)),
        { title: "What is decided", description: `one of ${findingStatuses.join(", ")}` },
      ),
    ),
    false_positive: Type.Optional(Type.Boolean({ title: "Whether the match is wrong", description: "true or false" })),
    note: Type.Optional(text({ title: "Why; an empty one removes it", max: findingNoteCharactersMax })),
  }),
  data: Type.Object(
    {
      finding_id: Type.String({ description: "Id of the finding" }),
      status: FindingStatusView,
      false_positive: Type.Boolean({ description: "Whether somebody called the match wrong" }),
      note: Type.Union([Type.String(), Type.Null()], { description: "Why it was decided" }),
      changes: Type.Array(ChangeView, { description: "What this call changed of it; nothing where all was so already" }),
      also_updated: Type.Integer({ description: "Findings of other versions of the package that followed" }),
    },
    { description: "The finding as it is now, and what this call changed" },
  ),
  async handle({ input, caller, parts }) {
    const { finding_id: finding, status, false_positive: falsePositive, note } = input;
    if (status === undefined && falsePositive === undefined && note === undefined) {
      throw new DomainError(
        "invalid_field",
        'Nothing is to be changed: at least one of "status", "false_positive" and "note" is needed',
      );
    }
    const decided = { finding, status: findingStatuses.find((known) => known === status), falsePositive, note };
    const made = await decide({ actor: caller.actor, workspace: caller.workspace, decided }, parts);
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
  return parts.length === 0 && followed === 0
    ? `${named} is as it was: nothing changed`
    : `${named}: ${parts.join(", ")}${others}`;
}

function noteChange(from: unknown, to: unknown): string {
  if (from === null) return "the note is set";
  return to === null ? "the note is removed" : "the note is changed";
}
