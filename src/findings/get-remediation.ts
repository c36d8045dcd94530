import { Type, type Static } from "@sinclair/typebox";
import { findingRowBytesMax, remedyRowBytesMax } from "../limits/tools.ts";
import { OperationError } from "../operations/operation-error.ts";
import { operation, reading } from "../operations/operation.ts";
import { wordOf } from "./ecosystem-words.ts";
import { fitRow } from "./fit-row.ts";
import { noFinding } from "./no-finding.ts";
import { remediesOf, type ComponentRemedy, type FindingRemedy } from "./remedies.ts";
import { ecosystem } from "./row-fields.ts";
import { findingId, projectId, SeverityView } from "./schema.ts";
import { selectTarget } from "./triage-store.ts";

const orNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const advice = {
  fix_version: orNull("The version to go to; null where there is none"),
  step: Type.Union([...["line", "major", "beyond"].map((word) => Type.Literal(word)), Type.Null()], {
    description: "How far it is: line within the installed major.minor, major within its major version, beyond",
  }),
  prerelease: Type.Boolean({ description: "Whether only a prerelease clears it so far" }),
  reason: orNull("Why there is none"),
};

const FindingView = Type.Object(
  {
    finding_id: Type.String({ description: "Id of the finding" }),
    cve_id: Type.String({ description: "Its issue" }),
    severity: SeverityView,
    cvss_score: Type.Union([Type.Number(), Type.Null()], { description: "null where no source gives one" }),
    component: Type.String({ description: "name@version" }),
    ...advice,
  },
  { description: "The nearest version that this issue does not affect" },
);

const ComponentView = Type.Object(
  {
    component: Type.String({ description: "name@version" }),
    ecosystem,
    purl: orNull("Its package URL"),
    relation: Type.Union([...["root", "direct", "transitive", "unknown"].map((word) => Type.Literal(word)), Type.Null()], {
      description: "How the project needs it; null where its present document does not have it",
    }),
    path: Type.Array(Type.String({ description: "name@version" }), {
      description: "A shortest way to it, from the root; … stands for steps that are left out",
    }),
    open_findings: Type.Integer({ description: "Its findings that are open or in progress" }),
    clears: Type.Integer({ description: "How many of these the version clears" }),
    ...advice,
  },
  { description: "The smallest version that no known issue of the component affects" },
);

export const getRemediation = operation({
  name: "get_remediation",
  title: "Get remediation",
  description:
    "Tells which versions to go to: for each open finding the nearest version that is not affected, on its own release line where there " +
    "is one, and for each component the smallest version that clears all of its findings, with where a transitive one comes from.",
  annotations: reading,
  addition: true,
  input: Type.Object({ project_id: Type.Optional(projectId), finding_id: Type.Optional(findingId) }),
  data: Type.Object(
    {
      project_id: Type.String({ description: "Id of the project" }),
      findings: Type.Array(FindingView, { description: "At most 200, the worst first" }),
      findings_total: Type.Integer({ description: "How many there are in all" }),
      components: Type.Array(ComponentView, { description: "At most 200, those with the worst findings first" }),
      components_total: Type.Integer({ description: "How many there are in all" }),
    },
    { description: "Versions to go to" },
  ),
  async handle({ input: { project_id: asked, finding_id: finding }, caller: { workspace }, parts }) {
    if ((asked === undefined) === (finding === undefined)) {
      throw new OperationError('Exactly one of "project_id" and "finding_id" is needed');
    }
    const target = finding === undefined ? undefined : await selectTarget({ workspace, id: finding }, parts.sql);
    if (finding !== undefined && target === undefined) throw noFinding(finding);
    const project = target?.project ?? asked ?? "";
    const remedies = await remediesOf({ workspace, project, finding: finding ?? null }, parts);
    if (remedies === null) throw new OperationError(`There is no project with the id "${project}"`);
    const { findings, components, totals } = remedies;
    return {
      data: {
        project_id: project,
        findings: findings.map(viewFinding),
        findings_total: totals.findings,
        components: components.map(viewComponent),
        components_total: totals.components,
      },
      message: `${fixable(findings)} of ${findings.length} findings and ${fixable(components)} of ${components.length} components have a version to go to`,
    };
  },
});

function fixable(remedies: readonly { advice: { version: string | null } }[]): number {
  return remedies.filter(({ advice: { version } }) => version !== null).length;
}

function viewFinding({ advice: { version: fix, ...told }, ...finding }: FindingRemedy): Static<typeof FindingView> {
  const { id, name, severity, score } = finding;
  const texts = { component: `${finding.component}@${finding.version}`, fix };
  return fitRow({ texts, bytesMax: findingRowBytesMax }, (fitted) => ({
    finding_id: id,
    cve_id: name,
    severity,
    cvss_score: score,
    component: fitted.component,
    fix_version: fitted.fix,
    ...told,
  })).row;
}

function viewComponent({ advice: { version: fix, ...told }, ...component }: ComponentRemedy): Static<typeof ComponentView> {
  const { ecosystem: home, purl, relation, path, open } = component;
  const texts: Record<string, string | null> = { component: `${component.component}@${component.version}`, purl, fix };
  for (const [step, name] of path.entries()) texts[`step ${step}`] = name;
  return fitRow({ texts, bytesMax: remedyRowBytesMax }, (fitted) => ({
    component: fitted["component"] ?? "",
    ecosystem: wordOf(home),
    purl: fitted["purl"] ?? null,
    relation,
    path: path.map((_, step) => fitted[`step ${step}`] ?? ""),
    open_findings: open,
    clears: fix === null ? 0 : open,
    fix_version: fitted["fix"] ?? null,
    ...told,
  })).row;
}
