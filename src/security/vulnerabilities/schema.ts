import { Type, type Static } from "@sinclair/typebox";
import { cvssScore, fixVersion } from "../findings/row-fields.ts";
import { FindingStatusView, SeverityView } from "../findings/schema.ts";

const orNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const texts = (description: string) => Type.Array(Type.String(), { description });
const count = (description: string) => Type.Integer({ description });

const Reference = Type.Object({
  type: Type.String({ description: "Such as FIX, ADVISORY or WEB" }),
  url: Type.String({ description: "The address" }),
});

export const Affected = Type.Object({
  ecosystem: Type.String({ description: "npm, pypi, maven, go, cargo, rubygems, nuget, or what the record calls it" }),
  package: Type.String({ description: "The package's name" }),
  ranges: texts("Affected versions, as in `>= 1.2.0, < 1.2.9`"),
  fixed: texts("Versions that fix it"),
  versions: texts("Affected versions that records name one by one; they count beside the ranges"),
  versions_total: count("How many of these there are in all"),
});
export type Affected = Static<typeof Affected>;

export const Occurrence = Type.Object({
  finding_id: Type.String({ description: "The finding" }),
  status: FindingStatusView,
  false_positive: Type.Boolean({ description: "Whether somebody called it that" }),
  component: Type.String({ description: "The component, as its document names it" }),
  component_version: Type.String({ description: "Its version" }),
  project_id: Type.String({ description: "The project" }),
  project: Type.String({ description: "The project's name" }),
  fix_version: fixVersion,
});

export const LeftOut = Type.Object(
  {
    sources: count("Records"),
    aliases: count("Other names"),
    references: count("References"),
    affected: count("Affected packages"),
    ranges: count("Ranges"),
    fixed: count("Fixing versions"),
    description_characters: count("Characters of the description"),
  },
  { description: "How much more there is than this answer shows" },
);
export type LeftOut = Static<typeof LeftOut>;

export const VulnerabilityRecord = Type.Object(
  {
    cve_id: Type.String({ description: "What it is shown as: its CVE id, else one of its others" }),
    stands_for: texts("What the asked id stands for: this one and, where records call several issues by it, the others"),
    severity: SeverityView,
    cvss_score: cvssScore,
    cvss_version: orNull("2.0, 3.0, 3.1 or 4.0"),
    cvss_vector: orNull("The vector that the score is of"),
    severity_source: orNull("Id of the record that says so"),
    affected_component: orNull("A component of the active scope that has it, as name@version; null: none has"),
    affected_project: orNull("The project of that component"),
    fix_version: orNull("The nearest version of that component that is not affected"),
    ecosystem: orNull("That component's ecosystem, else that of the only one whose packages are affected"),
    affected_components_count: count("Components of the active scope that have it"),
    affected_projects_count: count("Projects of the active scope that have it"),
    description: Type.String({ description: "What the weightiest record says of it" }),
    references: Type.Array(Reference, { description: "Of all records" }),
    aliases: texts("Other names of it"),
    sources: texts("Ids of the records that it is told from"),
    cwes: texts("Kinds of weaknesses, such as CWE-79"),
    published: orNull("When the first record was published (UTC, ISO 8601)"),
    modified: orNull("When a record was last changed"),
    withdrawn: orNull("When the last record was withdrawn; null: at least one stands"),
    affected: Type.Array(Affected, { description: "Packages that records speak of" }),
    occurrences: Type.Array(Occurrence, {
      description: "Findings of it in the active scope, those that are open or in progress first",
    }),
    occurrences_total: count("How many there are in all"),
    left_out: LeftOut,
  },
  { description: "A vulnerability with all that is known of it" },
);
export type VulnerabilityRecord = Static<typeof VulnerabilityRecord>;
