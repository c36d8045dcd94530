import { Type, type Static } from "@sinclair/typebox";
import type { FieldValue } from "../../accounts/audit/changes.ts";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { lineOf } from "../api/operations/fields.ts";

export const findingStatuses = ["open", "resolved", "ignored", "in_progress"] as const;
export type FindingStatus = (typeof findingStatuses)[number];

export const findingId = lineOf({ title: "Id of the finding", min: 1, max: nameCharactersMax });
export const projectId = lineOf({ title: "Id of the project", min: 1, max: nameCharactersMax });

export const FindingStatusView = Type.Unsafe<FindingStatus>(
  Type.Union(
    findingStatuses.map((status) => Type.Literal(status)),
    { description: "The status that scans and triage gave it" },
  ),
);

export const SeverityView = Type.Unsafe<"critical" | "high" | "medium" | "low" | null>(
  Type.Union([...["critical", "high", "medium", "low"].map((word) => Type.Literal(word)), Type.Null()], {
    description: "null when no source gives a score",
  }),
);

const value = (description: string) => Type.Union([Type.String(), Type.Boolean(), Type.Null()], { description });

export const ChangeView = Type.Object(
  { field: Type.String({ description: "Name of the field" }), from: value("Before"), to: value("After") },
  { description: "A changed field" },
);
export type ChangeView = Static<typeof ChangeView>;

/** Fields of findings and decisions are strings, booleans and notes. */
export function viewChanges(changes: Record<string, { from: FieldValue; to: FieldValue }>): ChangeView[] {
  return Object.entries(changes).map(([field, { from, to }]) => ({ field, from: viewValue(from), to: viewValue(to) }));
}

function viewValue(shown: FieldValue): string | boolean | null {
  return typeof shown === "boolean" || shown === null ? shown : String(shown);
}
