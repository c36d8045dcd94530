/**
 * The words of findings in the API: statuses, severities, ecosystems, and the fields that rows of findings and vulnerabilities share.
 *
 * A severity is stored as a rank. Its thousands are the severity, the rest is ten times the score. A rank below 1,000 is neither: it is the
 * month of publication, which orders issues without a severity.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { FieldValue } from "../../accounts/audit/store.ts";
import { DomainError } from "../../accounts/errors.ts";
import { nameCharactersMax } from "../../accounts/limits.ts";
import type { SeverityBasis } from "../advisories/issue.ts";
import { lineOf } from "../fields.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";

export const findingStatuses = ["open", "resolved", "ignored", "in_progress", "not_affected"] as const;
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
    description: "null when no advisory gives one",
  }),
);

export const SeverityBasisView = Type.Unsafe<SeverityBasis | null>(
  Type.Union([...["vector", "word", "malware"].map((word) => Type.Literal(word)), Type.Null()], {
    description:
      "Where the severity comes from: the score of a CVSS vector, the word of an advisory without a valid vector, or malware, which is critical; null when there is none",
  }),
);

/** What a vector's score does not say by itself. @returns at most one */
export function basisWords(basis: SeverityBasis | null): string[] {
  if (basis === "malware") return ["malware"];
  return basis === "word" ? ["the advisory's word"] : [];
}

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

export const severities = ["critical", "high", "medium", "low"] as const;
export type Severity = (typeof severities)[number];

const byStep = [null, "low", "medium", "high", "critical"] as const;
const step = 1_000;

/** @returns null if the severity is unknown */
export function severityOf(rank: number): Severity | null {
  return byStep[Math.trunc(rank / step)] ?? null;
}

/** @param severity `all` includes vulnerabilities without a severity. @returns the lowest and the highest rank */
export function ranksOf(severity: Severity | "all"): [number, number] {
  if (severity === "all") return [0, byStep.length * step - 1];
  const lowest = byStep.indexOf(severity) * step;
  return [lowest, lowest + step - 1];
}

/** The score that lists show. @param scoredZero whether the issue has the score 0.0 */
export function scoreShown({ rank, scoredZero }: { rank: number; scoredZero: boolean | null }): number | null {
  return scoredZero === true && rank === 0 ? 0 : scoreOf(rank);
}

/** The ecosystems by the names of the specification. */
export const ecosystemNames = ["npm", "pypi", "maven", "go", "cargo", "rubygems", "nuget"] as const;
export type EcosystemName = (typeof ecosystemNames)[number];

const byName: Record<EcosystemName, Ecosystem> = {
  npm: "npm",
  pypi: "PyPI",
  maven: "Maven",
  go: "Go",
  cargo: "crates.io",
  rubygems: "RubyGems",
  nuget: "NuGet",
};
const names = new Map(ecosystemNames.map((name) => [byName[name], name]));

export function ecosystemOfName(name: EcosystemName): Ecosystem {
  return byName[name];
}

export function ecosystemNameOf(ecosystem: Ecosystem): EcosystemName {
  const name = names.get(ecosystem);
  if (name === undefined) throw new Error(`The ecosystem "${ecosystem}" has no name in the tools API`);
  return name;
}

export const cvssScore = Type.Union([Type.Number(), Type.Null()], {
  description: "The CVSS score, 0 to 10; null when no advisory has a valid vector",
});
export const ecosystem = Type.Unsafe<EcosystemName | null>(
  Type.Union([...ecosystemNames.map((word) => Type.Literal(word)), Type.Null()], { description: "The component's ecosystem" }),
);
export const fixVersion = Type.Union([Type.String(), Type.Null()], {
  description: "The nearest version on the component's release line that is not affected; null when none is known",
});

/** Gives the same answer for a finding of another workspace as for one that does not exist. */
export function findingNotFound(id: string): DomainError {
  return new DomainError("not_found", `There is no finding with the id "${id}"`);
}

function viewValue(shown: FieldValue): string | boolean | null {
  return typeof shown === "boolean" || shown === null ? shown : String(shown);
}

/** @returns null if the score is unknown. A score of 0.0 has rank 0. */
function scoreOf(rank: number): number | null {
  return rank < step || rank % step === 0 ? null : (rank % step) / 10;
}
