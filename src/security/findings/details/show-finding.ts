/**
 * One finding for its page: its row, what was decided, where the component is in the SBOM, and the version to install. A finding of another
 * workspace gets the same answer as one that does not exist.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { textOrNull } from "../../../http/json-schema.ts";
import { isoTime, type Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { exploitFields, viewExploit } from "../../vulnerabilities/schema.ts";
import { selectExploit } from "../../vulnerabilities/store.ts";
import { findingNotFound } from "../schema.ts";
import { selectFindingRows } from "../lists/finding-list-store.ts";
import { uncut } from "../fit-page.ts";
import { FindingRow, viewFinding } from "../lists/list-rows.ts";
import { remediationOf, upgradeStepFields, type Advice } from "./remediation.ts";
import { selectTarget, selectState } from "../triage-store.ts";
import { decisionViewFields, viewDecision } from "../decision.ts";

const Upgrade = (description: string) =>
  Type.Object(
    {
      version: textOrNull("The version to upgrade to; null when there is none"),
      ...upgradeStepFields,
      prerelease: Type.Boolean({ description: "Whether only a prerelease fixes it so far" }),
      reason: textOrNull("Why there is no version"),
    },
    { description },
  );

export const FindingDetails = Type.Object({
  ...FindingRow.properties,
  present: Type.Boolean({ description: "Whether the project still has the component, and an advisory still names its version" }),
  note: textOrNull("The reason for the decision"),
  ...decisionViewFields,
  decided_by: textOrNull("Who decided last; null: no one"),
  decided_at: textOrNull("When, ISO 8601 in UTC"),
  upgrade: Upgrade("The nearest version that this vulnerability does not affect"),
  upgrade_for_all: Upgrade("The smallest version that no known vulnerability of the component affects"),
  open_findings: Type.Integer({ description: "Findings of the same component in the project that are open or in progress" }),
  relation: Type.Union([...["root", "direct", "transitive", "unknown"].map((word) => Type.Literal(word)), Type.Null()], {
    description: "How the project depends on the component; null when the current SBOM does not have it",
  }),
  ...exploitFields,
  path: Type.Array(Type.String(), {
    description: "A shortest path to it from the root, as name@version; … stands for omitted steps",
  }),
});
export type FindingDetails = Static<typeof FindingDetails>;

/** @throws DomainError not_found even for a finding of another workspace */
export async function showFinding(
  { workspace, id }: { workspace: WorkspaceId; id: string },
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<FindingDetails> {
  const target = await selectTarget({ workspace, id }, sql);
  if (target === undefined) throw findingNotFound(id);
  const [row] = await selectFindingRows([id], sql);
  const state = await selectState(id, sql);
  const query = { workspace, project: target.project, finding: id, page: { limit: 1, offset: 0 } };
  const remediation = await remediationOf(query, { sql, clock });
  if (row === undefined || state === undefined || remediation === null) throw findingNotFound(id);
  const [component] = remediation.components;
  return {
    ...viewFinding(row, uncut),
    present: state.present,
    note: state.note,
    ...viewDecision(state),
    decided_by: state.decidedBy,
    decided_at: state.decidedAt && isoTime(state.decidedAt.getTime()),
    upgrade: remediation.findings[0]?.advice ?? noAdvice,
    upgrade_for_all: component?.advice ?? noAdvice,
    open_findings: component?.open ?? 0,
    relation: component?.relation ?? null,
    ...viewExploit(await selectExploit(target.vulnerability, sql)),
    path: component?.path ?? [],
  };
}

const noAdvice: Advice = { version: null, step: null, prerelease: false, reason: null };
