/**
 * The operation `get_remediation`: which versions to install, for each finding and for each component.
 *
 * Both lists continue at the same offset, so over MCP a page ends when the first of them is full. When a page is too long, the steps of
 * dependency paths are cut first. The advice itself is computed in `remediation.ts`.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../../accounts/errors.ts";
import { textOrNull } from "../../../http/json-schema.ts";
import { listRowsMax } from "../../../http/limits.ts";
import { nextOffset, pageFields, shortPageAnswer, type Page } from "../../fields.ts";
import { operation, reading } from "../../operation.ts";
import { findingPageBytesMax, remediationComponentsBytesMax } from "../../limits.ts";
import { resourceNotFound } from "../../resource.ts";
import { fitPage, type Shorten } from "../fit-page.ts";
import { blindProjects } from "../lists/list-answer.ts";
import { ecosystemNameOf, findingNotFound, ecosystem, findingId, projectId, SeverityView } from "../schema.ts";
import { selectTarget } from "../triage-store.ts";
import {
  remediationOf,
  type ComponentRemediation,
  type FindingRemediation,
  type Remediation,
  upgradeStepFields,
} from "./remediation.ts";

const advice = {
  fix_version: textOrNull("The version to upgrade to; null when there is none"),
  ...upgradeStepFields,
  prerelease: Type.Boolean({ description: "Whether only a prerelease fixes it so far" }),
  reason: textOrNull("Why there is no version"),
};

const FindingView = Type.Object(
  {
    finding_id: Type.String({ description: "Id of the finding" }),
    cve_id: Type.String({ description: "Its issue" }),
    severity: SeverityView,
    cvss_score: Type.Union([Type.Number(), Type.Null()], { description: "null when no source gives one" }),
    component: Type.String({ description: "name@version" }),
    ...advice,
  },
  { description: "The nearest version that this issue does not affect" },
);

const ComponentView = Type.Object(
  {
    component: Type.String({ description: "name@version" }),
    ecosystem,
    purl: textOrNull("Its package URL"),
    relation: Type.Union([...["root", "direct", "transitive", "unknown"].map((word) => Type.Literal(word)), Type.Null()], {
      description: "How the project depends on it; null when the current SBOM does not have it",
    }),
    path: Type.Array(Type.String({ description: "name@version" }), {
      description: "A shortest path to it from the root; … stands for omitted steps",
    }),
    open_findings: Type.Integer({ description: "Its findings that are open or in progress" }),
    clears: Type.Integer({ description: "How many of these the version fixes" }),
    ...advice,
  },
  { description: "The smallest version that no known issue of the component affects" },
);

export const getRemediation = operation({
  title: "Get remediation",
  description:
    "Lists versions to upgrade to: for each open finding the nearest version that is not affected, on its own release line if there is " +
    "one, and for each component the smallest version that fixes all of its findings, with the path to a transitive one.",
  annotations: reading,
  addition: true,
  input: Type.Object({
    project_id: Type.Optional(projectId),
    finding_id: Type.Optional(findingId),
    ...pageFields({ normal: listRowsMax, max: listRowsMax }),
  }),
  data: Type.Object(
    {
      project_id: Type.String({ description: "Id of the project" }),
      findings: Type.Array(FindingView, { description: "The worst first" }),
      findings_total: Type.Integer({ description: "How many there are in all" }),
      components: Type.Array(ComponentView, { description: "Those with the worst findings first" }),
      components_total: Type.Integer({ description: "How many there are in all" }),
      limit: Type.Integer({ description: "Rows of each list at most" }),
      offset: Type.Integer({ description: "Rows of each list that were skipped" }),
      has_more: Type.Boolean({ description: "Whether one of the lists has rows after these" }),
      next_offset: nextOffset,
    },
    { description: "Versions to upgrade to" },
  ),
  async handle({ input: { project_id: requested, finding_id: finding, limit, offset }, caller: { workspace }, isForMcp, parts }) {
    if ((requested === undefined) === (finding === undefined)) {
      throw new DomainError("invalid_field", 'Exactly one of "project_id" and "finding_id" is needed');
    }
    const target = finding === undefined ? undefined : await selectTarget({ workspace, id: finding }, parts.sql);
    if (finding !== undefined && target === undefined) throw findingNotFound(finding);
    const project = target?.project ?? requested ?? "";
    const remediation = await remediationOf({ workspace, project, finding: finding ?? null, page: { limit, offset } }, parts);
    if (remediation === null) throw resourceNotFound("project", { id: project });
    const blind = remediation.totals.findings > 0 ? null : await blindProjects({ kind: "project", id: project }, parts.sql);
    return responseOf({ project, remediation, page: { limit, offset }, isForMcp, blind });
  },
});

const omitted = "…";

interface Answered {
  project: string;
  remediation: Remediation;
  page: Page;
  isForMcp: boolean;
  /** Why an empty result is not a verdict; null: it is one. */
  blind: string | null;
}

/** Both lists continue at the same offset, so over MCP both end when the first of them is full. */
function responseOf({ project, remediation, page, isForMcp: isShortened, blind }: Answered) {
  const { totals } = remediation;
  const fitted = {
    findings: fitPage({ items: remediation.findings, bytesMax: findingPageBytesMax, isShortened }, viewFinding).rows,
    components: fitPage({ items: remediation.components, bytesMax: remediationComponentsBytesMax, isShortened }, viewComponent)
      .rows,
  };
  const ends = [
    shortPageAnswer(page, { total: totals.findings, rows: fitted.findings.length }).next_offset,
    shortPageAnswer(page, { total: totals.components, rows: fitted.components.length }).next_offset,
  ].filter((end) => end !== undefined);
  const next = ends.length === 0 ? null : Math.min(...ends);
  const rows = next === null ? page.limit : next - page.offset;
  const [findings, components] = [fitted.findings.slice(0, rows), fitted.components.slice(0, rows)];
  return {
    data: {
      project_id: project,
      findings,
      findings_total: totals.findings,
      components,
      components_total: totals.components,
      limit: page.limit,
      offset: page.offset,
      has_more: page.offset + rows < Math.max(totals.findings, totals.components),
      ...(next !== null && { next_offset: next }),
    },
    message: [
      `${fixable(findings)} of ${findings.length} findings and ${fixable(components)} of ${components.length} components have a version to upgrade to`,
      ...(blind === null ? [] : [blind]),
    ].join(". "),
  };
}

function viewFinding(
  { advice: { version: fix, ...advice }, ...finding }: FindingRemediation,
  shorten: Shorten,
): Static<typeof FindingView> {
  const { id, name, severity, score, component, version } = finding;
  return {
    finding_id: id,
    cve_id: name,
    severity,
    cvss_score: score,
    component: shorten(`${component}@${version}`, "name"),
    fix_version: fix,
    ...advice,
  };
}

/** When a page is too long, steps of paths are left out first. */
function viewComponent(
  { advice: { version: fix, ...advice }, ...component }: ComponentRemediation,
  shorten: Shorten,
): Static<typeof ComponentView> {
  const { ecosystem: home, purl, relation, path, open } = component;
  const steps = path.map((step) => (shorten(step) === step ? step : omitted));
  return {
    component: shorten(`${component.component}@${component.version}`, "name"),
    ecosystem: ecosystemNameOf(home),
    purl: shorten(purl, "name"),
    relation,
    path: steps.filter((step, index) => step !== omitted || steps[index - 1] !== omitted),
    open_findings: open,
    clears: fix === null ? 0 : open,
    fix_version: fix,
    ...advice,
  };
}

function fixable(rows: readonly { fix_version: string | null }[]): number {
  return rows.filter(({ fix_version: version }) => version !== null).length;
}
