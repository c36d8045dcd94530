/** The findings of a project and what was decided, as a CycloneDX document (VEX). */
import { randomUUID } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { isoTime, type Clock } from "../../../kernel/clock.ts";
import { vexFindingsMax } from "../limits.ts";
import { severities } from "../severity.ts";
import { analysisOf, analysisStates, justifications, type Analysis } from "./analysis.ts";
import { selectVexFindings, selectVexProject, type VexFinding } from "./vex-store.ts";

const text = (description: string) => Type.String({ description });
const word = <Word extends string>(words: readonly Word[], description: string) =>
  Type.Unsafe<Word>(
    Type.Union(
      words.map((one) => Type.Literal(one)),
      { description },
    ),
  );

const Component = Type.Object({
  type: Type.Literal("library", { description: "library" }),
  "bom-ref": text("What `affects` refers to: its package URL, or its name and version"),
  name: text("Its name"),
  version: text("Its version; empty: the SBOM names none"),
  purl: Type.Optional(text("Its package URL")),
});

const Rating = Type.Object({
  severity: word([...severities, "unknown"], "The severity"),
  score: Type.Optional(Type.Number({ description: "The CVSS score" })),
});

const Vulnerability = Type.Object({
  id: text("Its CVE id, or another id"),
  ratings: Type.Array(Rating, { description: "One" }),
  recommendation: Type.Optional(text("The version to upgrade to")),
  analysis: Type.Object(
    {
      state: word(analysisStates, "What was decided"),
      justification: Type.Optional(word(justifications, "Why it is not affected")),
      response: Type.Optional(Type.Array(Type.String(), { description: "What is done" })),
      detail: Type.Optional(text("The note")),
      lastUpdated: Type.Optional(text("When it was decided, ISO 8601 in UTC")),
    },
    { description: "The decision" },
  ),
  affects: Type.Array(Type.Object({ ref: text("A component's bom-ref") }), { description: "The components that have it" }),
});

export const VexDocument = Type.Object(
  {
    bomFormat: Type.Literal("CycloneDX", { description: "CycloneDX" }),
    specVersion: Type.Literal("1.6", { description: "1.6" }),
    serialNumber: text("A new one for each document"),
    version: Type.Integer({ description: "1" }),
    metadata: Type.Object(
      {
        timestamp: text("Now, ISO 8601 in UTC"),
        component: Type.Object(
          { type: Type.Literal("application", { description: "application" }), name: text("The project's name") },
          { description: "The project" },
        ),
      },
      { description: "What it is about" },
    ),
    components: Type.Array(Component, { description: "The components with findings" }),
    vulnerabilities: Type.Array(Vulnerability, {
      description: `Findings of the current SBOM with the same decision, together; at most the ${vexFindingsMax} most severe`,
    }),
  },
  { description: "A CycloneDX document" },
);
export type VexDocument = Static<typeof VexDocument>;

/** @param project an existing one */
export async function exportVex(project: string, { sql, clock }: { sql: Queries; clock: Clock }): Promise<VexDocument> {
  const { name = "" } = (await selectVexProject(project, sql)) ?? {};
  const findings = await selectVexFindings({ project, limit: vexFindingsMax }, sql);
  const components = new Map(findings.map((finding) => [refOf(finding), componentOf(finding)]));
  const groups = Map.groupBy(findings, (finding) => JSON.stringify([finding.name, finding.fixVersion, analysisOf(finding)]));
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${randomUUID()}`,
    version: 1,
    metadata: { timestamp: isoTime(clock.now()), component: { type: "application", name } },
    components: [...components.values()],
    vulnerabilities: [...groups.values()].flatMap(([first, ...others]) => (first ? [vulnerabilityOf([first, ...others])] : [])),
  };
}

function vulnerabilityOf(findings: readonly [VexFinding, ...VexFinding[]]): Static<typeof Vulnerability> {
  const [{ name, severity, score, fixVersion, decidedAt, ...decided }] = findings;
  const analysis: Analysis = analysisOf(decided);
  return {
    id: name,
    ratings: [{ severity: severity ?? "unknown", ...(score !== null && { score }) }],
    ...(fixVersion !== null && { recommendation: `Upgrade to ${fixVersion}` }),
    analysis: { ...analysis, ...(decidedAt && { lastUpdated: isoTime(decidedAt.getTime()) }) },
    affects: [...new Set(findings.map(refOf))].map((ref) => ({ ref })),
  };
}

function componentOf(finding: VexFinding): Static<typeof Component> {
  const { component: name, version, purl } = finding;
  return { type: "library", "bom-ref": refOf(finding), name, version, ...(purl !== null && { purl }) };
}

function refOf({ purl, component, version }: VexFinding): string {
  return purl ?? `${component}@${version}`;
}
