/**
 * The status of a finding after a scan, as a pure function of what was found, what was known before and what a person decided.
 *
 * - Affected for the first time: `open`, or as decided for another version of the package, unless that was `resolved` (`found`).
 * - Affected as before: nothing changes, and no event is written.
 * - Affected again after it was gone: `open`; `ignored`, `not_affected`, `in_progress` and false positives stay as decided (`returned`).
 * - Gone from the SBOM, from every range, or only in withdrawn records: `resolved` (`component_gone`, `not_affected`, `withdrawn`).
 * - Its issue was merged with another one: `resolved` (`issue_joined`), or it takes the later decision (`decision_followed`).
 *
 * Nothing is deleted. What cannot be compared is neither affected nor clean; it is kept as an unknown match. People's decisions are in
 * `triage/triage.ts`. `test/security/findings/transitions.test.ts` has tables of both.
 */
import { changedFields } from "../../accounts/audit/change.ts";
import type { Changes } from "../../accounts/audit/store.ts";
import type { FindingStatus } from "./schema.ts";

/** Why a finding changed. */
export type Cause =
  /** The scan found it for the first time. */
  | "found"
  /** The scan found it again after it was gone. */
  | "returned"
  /** The decision about its issue applies to this finding too: the issue was merged with another, or the issue was reopened. */
  | "decision_followed"
  /** The current SBOM does not have this version of the component. */
  | "component_gone"
  /** The version is no longer listed as affected by any advisory. */
  | "not_affected"
  /** Every advisory of the issue was withdrawn. */
  | "withdrawn"
  /** The issue was merged with another one, which has its own finding. */
  | "issue_joined"
  /** The issue was merged with another one, to which the finding now belongs. */
  | "issue_followed"
  /** The last day of its accepted risk is over. */
  | "acceptance_ended"
  /** A person triaged it. */
  | "decided";

export interface Decision {
  status: FindingStatus;
  falsePositive: boolean;
}

/** A finding's state before the scan. */
export interface FindingState extends Decision {
  present: boolean;
}

interface FindingOutcome extends Decision {
  cause: Cause;
  /** Empty: the finding is unchanged, and no event is written. */
  changes: Changes;
}

interface TransitionInput {
  /** The findings of the versions that are affected now, by version; null: the version had no finding. */
  versions: ReadonlyMap<string, FindingState | null>;
  /** null: no one has decided. */
  decision: Decision | null;
}

interface Transitions {
  outcomes: Map<string, FindingOutcome>;
  /** Whether the decision `resolved` is reversed, because the issue appears in a new version. */
  reopens: boolean;
}

/** Computes the outcomes for all versions of one package that one issue affects. */
export function transitionsOf({ versions, decision }: TransitionInput): Transitions {
  const appears = [...versions.values()].some((standing) => standing?.present !== true);
  const reopens = appears && decision?.status === "resolved" && !decision.falsePositive;
  const holding = reopens ? { status: "open" as const, falsePositive: false } : decision;
  const outcomes = new Map([...versions].map(([version, standing]) => [version, outcomeOf(standing, holding)] as const));
  return { outcomes, reopens };
}

/** The outcome for a finding whose version is no longer affected, or no longer in the SBOM. */
export function goneOutcome(standing: FindingState, cause: Cause): FindingOutcome {
  const { falsePositive } = standing;
  return {
    status: "resolved",
    falsePositive,
    cause,
    changes: stateChanges(standing, { status: "resolved", falsePositive, present: false }),
  };
}

function outcomeOf(standing: FindingState | null, decision: Decision | null): FindingOutcome {
  if (standing === null) {
    const { status, falsePositive } = decision ?? { status: "open", falsePositive: false };
    const changes = changedFields({
      before: { false_positive: false },
      after: { status, false_positive: falsePositive },
    });
    return { status, falsePositive, cause: "found", changes };
  }
  const undecided = standing.present ? standing.status : "open";
  const { status, falsePositive } = decision ?? { status: undecided, falsePositive: standing.falsePositive };
  const cause = standing.present ? "decision_followed" : "returned";
  return { status, falsePositive, cause, changes: stateChanges(standing, { status, falsePositive, present: true }) };
}

function stateChanges(before: FindingState, after: FindingState): Changes {
  const fields = ({ status, falsePositive, present }: FindingState) => ({ status, false_positive: falsePositive, present });
  return changedFields({ before: fields(before), after: fields(after) });
}
