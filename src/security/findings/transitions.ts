/** What becomes of findings when their project is scanned. People decide about an issue in a package, whatever its version. */
import { changedFields, type Changes } from "../../accounts/audit/changes.ts";
import type { FindingStatus } from "./schema.ts";

/** Why a finding changed. */
export type Cause =
  /** The scanner found it for the first time. */
  | "found"
  /** It is there again, after it was gone. */
  | "returned"
  /** What was decided of the issue holds for this finding too: its issue was joined with another one, or an earlier claim was wrong. */
  | "decision_followed"
  /** The present document does not have this version of the component. */
  | "component_gone"
  /** No record says any longer that the version is affected. */
  | "not_affected"
  /** Every record of the issue was withdrawn. */
  | "withdrawn"
  /** The issue was joined with another one, which has a finding of its own. */
  | "issue_joined"
  /** The issue was joined with another one, and the finding is one of that issue now. */
  | "issue_followed"
  /** A person decided. */
  | "decided";

export interface Decision {
  status: FindingStatus;
  falsePositive: boolean;
}

/** What there was of a finding before the scan. */
export interface FindingState extends Decision {
  present: boolean;
}

export interface Outcome extends Decision {
  cause: Cause;
  /** Empty: it stays as it is, and no event is written. */
  changes: Changes;
}

interface TransitionInput {
  /** One for each version that is affected now, by that version; null: there was no finding of it. */
  versions: ReadonlyMap<string, FindingState | null>;
  /** null: nobody has decided. */
  decision: Decision | null;
}

interface Transitions {
  outcomes: Map<string, Outcome>;
  /** Somebody called it resolved, and here it is in a version that was not there: the claim is over. */
  reopens: boolean;
}

/** Of all versions of one package that one issue affects. */
export function transitionsOf({ versions, decision }: TransitionInput): Transitions {
  const appears = [...versions.values()].some((standing) => standing?.present !== true);
  const reopens = appears && decision?.status === "resolved" && !decision.falsePositive;
  const holding = reopens ? { status: "open" as const, falsePositive: false } : decision;
  const outcomes = new Map([...versions].map(([version, standing]) => [version, outcomeOf(standing, holding)] as const));
  return { outcomes, reopens };
}

function outcomeOf(standing: FindingState | null, decision: Decision | null): Outcome {
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

/** Of a finding whose version is not affected any longer, or not there. */
export function goneOutcome(standing: FindingState, cause: Cause): Outcome {
  const { falsePositive } = standing;
  return {
    status: "resolved",
    falsePositive,
    cause,
    changes: stateChanges(standing, { status: "resolved", falsePositive, present: false }),
  };
}

function stateChanges(before: FindingState, after: FindingState): Changes {
  const fields = ({ status, falsePositive, present }: FindingState) => ({ status, false_positive: falsePositive, present });
  return changedFields({ before: fields(before), after: fields(after) });
}
