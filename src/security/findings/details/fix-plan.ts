/**
 * The fix plan of a project: for each vulnerable version of a component the smallest version that clears all of its findings, or why there
 * is none, those with the most severe findings first. It is the part of a remediation that is about components, with the severity and the
 * way by which the project depends on each, since a transitive one is upgraded through the first step.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { text, textOrNull } from "../../../http/json-schema.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import type { Page } from "../../fields.ts";
import { resourceNotFound } from "../../resource.ts";
import { ecosystem as ecosystemField, ecosystemNameOf, severityOf, SeverityView } from "../schema.ts";
import { remediationOf, upgradeStepFields } from "./remediation.ts";

const count = (description: string) => Type.Integer({ description });

const Fix = Type.Object({
  component: text("Name of the component"),
  version: text("Its installed version; empty: the SBOM names none"),
  ecosystem: ecosystemField,
  severity: SeverityView,
  open_findings: count("Its findings that are open or in progress"),
  fix_version: textOrNull("The smallest version that clears all of them; null: there is none"),
  ...upgradeStepFields,
  prerelease: Type.Boolean({ description: "Whether only a prerelease clears them so far" }),
  reason: textOrNull("Why there is no version"),
  relation: Type.Union([...["root", "direct", "transitive", "unknown"].map((word) => Type.Literal(word)), Type.Null()], {
    description: "How the project depends on it; null: the current SBOM does not have it",
  }),
  path: Type.Array(Type.String(), {
    description: "A shortest path to it from the root, as name@version; … stands for omitted steps",
  }),
});

export const FixPlan = Type.Object({
  data: Type.Array(Fix, { description: "Vulnerable components, those with the most severe findings first" }),
  total: count("How many there are"),
});
export type FixPlan = Static<typeof FixPlan>;

/** @throws DomainError not_found */
export async function planFixes(
  { workspace, project, page }: { workspace: WorkspaceId; project: string; page: Page },
  sources: { sql: Queries; clock: Clock },
): Promise<FixPlan> {
  const remediation = await remediationOf({ workspace, project, finding: null, page }, sources);
  if (remediation === null) throw resourceNotFound("project", { id: project });
  const data = remediation.components.map(({ component, version, ecosystem, rank, open, relation, path, advice }) => ({
    component,
    version,
    ecosystem: ecosystemNameOf(ecosystem),
    severity: severityOf(rank),
    open_findings: open,
    fix_version: advice.version,
    step: advice.step,
    prerelease: advice.prerelease,
    reason: advice.reason,
    relation,
    path,
  }));
  return { data, total: remediation.totals.components };
}
