/** A vulnerability as the API shows it. Each list is cut at a limit, and `left_out` says how many items are missing. */
import { Type, type Static } from "@sinclair/typebox";
import { textOrNull } from "../../http/json-schema.ts";
import type { ExploitFacts } from "./store.ts";
import { cvssScore, fixVersion, FindingStatusView, SeverityBasisView, SeverityView } from "../findings/schema.ts";

const texts = (description: string) => Type.Array(Type.String(), { description });
const count = (description: string) => Type.Integer({ description });

const Reference = Type.Object({
  type: Type.String({ description: "Such as FIX, ADVISORY or WEB" }),
  url: Type.String({ description: "The address" }),
});

export const AffectedView = Type.Object({
  ecosystem: Type.String({ description: "npm, pypi, maven, go, cargo, rubygems, nuget, or the name in the advisory" }),
  package: Type.String({ description: "The package's name" }),
  ranges: texts("Affected versions, as in `>= 1.2.0, < 1.2.9`"),
  fixed: texts("Versions that fix it"),
  versions: texts("Affected versions that advisories list one by one, in addition to the ranges"),
  versions_total: count("The number of all listed versions"),
});
export type AffectedView = Static<typeof AffectedView>;

const Occurrence = Type.Object({
  finding_id: Type.String({ description: "The finding" }),
  status: FindingStatusView,
  false_positive: Type.Boolean({ description: "Whether a person marked it as a false positive" }),
  component: Type.String({ description: "The component, as the SBOM names it" }),
  component_version: Type.String({ description: "Its version" }),
  project_id: Type.String({ description: "The project" }),
  project: Type.String({ description: "The project's name" }),
  fix_version: fixVersion,
});

const LeftOut = Type.Object(
  {
    sources: count("Advisories"),
    aliases: count("Other names"),
    references: count("References"),
    affected: count("Affected packages"),
    ranges: count("Ranges"),
    fixed: count("Fixing versions"),
    description_characters: count("Characters of the description"),
  },
  { description: "How many more there are than this response shows" },
);
type LeftOut = Static<typeof LeftOut>;

const numberOrNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

export const exploitFields = {
  known_exploited_since: Type.Union([Type.String(), Type.Null()], {
    description:
      "When CISA added it to its catalog of known exploited vulnerabilities, such as 2021-12-10; null: it is not in it",
  }),
  epss: numberOrNull("The probability that it is exploited within 30 days, 0 to 1, as EPSS estimates it; null: unknown"),
  epss_percentile: numberOrNull("The part of all vulnerabilities with at most that probability, 0 to 1"),
};

/** @param known undefined: nothing is */
export function viewExploit(known: ExploitFacts | undefined) {
  const { epss = null, percentile = null, kevAdded = null } = known ?? {};
  return { known_exploited_since: kevAdded, epss, epss_percentile: percentile };
}

export const VulnerabilityRecord = Type.Object(
  {
    cve_id: Type.String({ description: "Its CVE id, or another id when it has none" }),
    stands_for: texts(
      "The vulnerabilities that the requested id stands for: this one, and others when advisories use the id for several",
    ),
    severity: SeverityView,
    cvss_score: cvssScore,
    cvss_version: textOrNull("2.0, 3.0, 3.1 or 4.0"),
    cvss_vector: textOrNull("The vector of the score"),
    severity_source: textOrNull("Id of the advisory with this severity"),
    severity_basis: SeverityBasisView,
    ...exploitFields,
    affected_component: textOrNull("A component of the active scope that has it, as name@version; null when none has"),
    affected_project: textOrNull("The project of that component"),
    fix_version: textOrNull("The nearest version of that component that is not affected"),
    ecosystem: textOrNull(
      "That component's ecosystem; without a component, the ecosystem of all affected packages, when there is only one",
    ),
    affected_components_count: count("Components of the active scope that have it"),
    affected_projects_count: count("Projects of the active scope that have it"),
    description: Type.String({ description: "The description in the first of its sources that has one" }),
    references: Type.Array(Reference, { description: "References of its sources" }),
    aliases: texts("Other ids"),
    sources: texts("Ids of the advisories that describe it, in the order of precedence"),
    cwes: texts("Kinds of weaknesses, such as CWE-79"),
    published: textOrNull("When the first advisory was published (UTC, ISO 8601)"),
    modified: textOrNull("When an advisory was last changed"),
    withdrawn: textOrNull("When the last advisory was withdrawn; null when at least one is not withdrawn"),
    affected: Type.Array(AffectedView, { description: "Affected packages" }),
    occurrences: Type.Array(Occurrence, {
      description: "Its findings in the active scope; those that are open or in progress come first",
    }),
    occurrences_total: count("The number of all occurrences"),
    left_out: LeftOut,
  },
  { description: "A vulnerability with its sources and occurrences" },
);
export type VulnerabilityRecord = Static<typeof VulnerabilityRecord>;
