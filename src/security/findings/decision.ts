/**
 * What a person decides about an issue in a package of a project, and what a call makes of it, as pure functions.
 *
 * Besides a status, the false-positive flag and a note, a decision has what only some statuses have: `not_affected` may have one of
 * CycloneDX's justifications, and `ignored`, an accepted risk, a last day. Another status removes both. Whatever the status, a member may
 * own it. Fields that a call leaves out stay as they are.
 *
 * A finding that is gone stays resolved. It can be ignored or called not affected for its return, but not opened.
 */
import { Type } from "@sinclair/typebox";
import { changedFields } from "../../accounts/audit/change.ts";
import type { Changes } from "../../accounts/audit/store.ts";
import { DomainError } from "../../accounts/errors.ts";
import { textOrNull } from "../../http/json-schema.ts";
import type { FindingStatus } from "./schema.ts";
import type { Decision, FindingState } from "./transitions.ts";

/** CycloneDX's reasons for `not_affected`: https://cyclonedx.org/docs/1.6/json/#vulnerabilities_items_analysis_justification */
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
export type Justification = (typeof justifications)[number];

/** A decision as it is stored. */
export interface StoredDecision extends Decision {
  note: string | null;
  /** null: none, or another status than `not_affected`. */
  justification: Justification | null;
  /** The last day, in UTC, on which the risk is accepted, such as 2026-12-31; null: no end, or another status than `ignored`. */
  acceptedUntil: string | null;
  /** E-mail address of a member. */
  owner: string | null;
}

/** What a call changes; null removes, undefined keeps. */
export interface DecisionFields {
  status?: FindingStatus | undefined;
  falsePositive?: boolean | undefined;
  /** An empty note removes the note. */
  note?: string | undefined;
  justification?: Justification | null | undefined;
  acceptedUntil?: string | null | undefined;
  owner?: string | null | undefined;
}

/** The fields of a decision in answers, besides the finding's own. */
export const decisionViewFields = {
  justification: Type.Unsafe<Justification | null>(
    Type.Union([...justifications.map((word) => Type.Literal(word)), Type.Null()], {
      description: "Why it is not affected; null: not given, or another status",
    }),
  ),
  accepted_until: textOrNull("The last day (UTC) on which the risk is accepted; null: no end, or another status than ignored"),
  owner: textOrNull("E-mail address of the member who takes care of it; null: none"),
};

export function viewDecision(decision: Pick<StoredDecision, "justification" | "acceptedUntil" | "owner">) {
  return { justification: decision.justification, accepted_until: decision.acceptedUntil, owner: decision.owner };
}

/** For an issue that no one has decided about. @param finding the one that is decided about */
export function undecided({ present, status, falsePositive }: FindingState): StoredDecision {
  return {
    status: present ? status : "open",
    falsePositive,
    note: null,
    justification: null,
    acceptedUntil: null,
    owner: null,
  };
}

/**
 * @param today in UTC, such as 2026-11-29
 * @throws DomainError conflict if the call opens a finding that is gone; invalid_field for a justification or a day that the status does not
 *   have, or a day that is over
 */
export function decisionAfter({
  before,
  finding,
  decided,
  today,
}: {
  before: StoredDecision;
  finding: FindingState & { id: string };
  decided: DecisionFields;
  today: string;
}): StoredDecision {
  const { falsePositive = before.falsePositive, note } = decided;
  const status = statusAfter({ before, finding, status: decided.status });
  return {
    status,
    falsePositive,
    note: note === undefined ? before.note : note === "" ? null : note,
    justification: justificationAfter({ before, status, given: decided.justification }),
    acceptedUntil: acceptedUntilAfter({ before, status, given: decided.acceptedUntil, today }),
    owner: decided.owner === undefined ? before.owner : decided.owner,
  };
}

/** What a decision makes of a finding of one version: a gone one stays resolved, unless it is dismissed for its return. */
export function findingAfter(
  finding: FindingState,
  { status: decided, falsePositive }: Decision,
): Decision & { changes: Changes } {
  const status = finding.present || isDismissed(decided) ? decided : "resolved";
  const changes = changedFields({
    before: { status: finding.status, false_positive: finding.falsePositive },
    after: { status, false_positive: falsePositive },
  });
  return { status, falsePositive, changes };
}

/** What changes besides the named finding: the decision's own fields, and the status that a gone finding gets when it returns. */
export function decisionChanges({
  before,
  after,
  own,
}: {
  before: StoredDecision;
  after: StoredDecision;
  own: { changes: Changes };
}): Changes {
  const { decision, ...rest } = changedFields({ before: fieldsOf(before), after: fieldsOf(after) });
  return decision === undefined || own.changes["status"] !== undefined ? rest : { ...rest, decision };
}

function fieldsOf({ status, note, justification, acceptedUntil, owner }: StoredDecision) {
  return { note, justification, accepted_until: acceptedUntil, owner, decision: status };
}

function isDismissed(status: FindingStatus): boolean {
  return status === "ignored" || status === "not_affected";
}

function statusAfter({
  before,
  finding,
  status,
}: {
  before: StoredDecision;
  finding: FindingState & { id: string };
  status: FindingStatus | undefined;
}): FindingStatus {
  if (!finding.present && (status === "open" || status === "in_progress")) {
    throw new DomainError(
      "conflict",
      `The finding "${finding.id}" is gone from its project, so its status cannot be ${status}: it opens by itself when it returns`,
    );
  }
  // A gone finding is already resolved: setting `resolved` only reverses a dismissal, and does not set its status for a return.
  const kept = status === "resolved" && isDismissed(before.status) ? "open" : before.status;
  return status === undefined || (!finding.present && status === "resolved") ? kept : status;
}

interface FieldAfter<Value> {
  before: StoredDecision;
  status: FindingStatus;
  /** undefined: the call leaves it out. */
  given: Value | null | undefined;
}

function justificationAfter({ before, status, given }: FieldAfter<Justification>): Justification | null {
  if (status === "not_affected") return given === undefined ? before.justification : given;
  if (given === undefined || given === null) return null;
  throw new DomainError("invalid_field", 'Cannot take a justification: only the status "not_affected" has one', {
    field: "justification",
  });
}

function acceptedUntilAfter({ before, status, given, today }: FieldAfter<string> & { today: string }): string | null {
  const field = "accepted_until";
  if (status === "ignored" && given === undefined) return before.acceptedUntil;
  if (given === undefined || given === null) return null;
  if (status !== "ignored")
    throw new DomainError("invalid_field", `Cannot take "${given}" as accepted_until: only the status "ignored" has a last day`, {
      field,
    });
  if (!isDay(given))
    throw new DomainError("invalid_field", `Cannot take "${given}" as accepted_until: there is no such day`, { field });
  if (given < today)
    throw new DomainError(
      "invalid_field",
      `Cannot take "${given}" as accepted_until: the day is over (today is ${today} in UTC)`,
      { field },
    );
  return given;
}

/** Whether the calendar has the day: no 30 February. */
function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
