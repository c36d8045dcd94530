import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { VulnerabilityCounts } from "../findings/lists/vulnerability-counts.ts";
import { ecosystem } from "../findings/row-fields.ts";
import { VulnerabilityRow } from "../findings/lists/vulnerability-row.ts";
import { projectFindingsMax } from "../limits.ts";

const text = (description: string) => Type.String({ description });
const count = (description: string) => Type.Integer({ description });
const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const words = <Word extends string>(all: readonly Word[], description: string) =>
  Type.Unsafe<Word>(
    Type.Union(
      all.map((word) => Type.Literal(word)),
      { description },
    ),
  );

export const ScanStatusView = words(
  ["never", "pending", "scanning", "completed", "failed"],
  "How far the last scan is: `never` asked for, `pending`, `scanning`, `completed` against all that was known before, or `failed`",
);

export const StoredSbom = Type.Object(
  {
    sbom_id: text("The document's id; the same bytes in the same project have the same"),
    project_id: text("The project whose present document it is"),
    format: words(["CycloneDX", "SPDX"], "What it is written in"),
    spec_version: text("Version of the format, such as `1.6`"),
    components: count("How many components it has, nested ones included, without its root"),
    scan_status: ScanStatusView,
  },
  { description: "What is stored of the document" },
);
export type StoredSbom = Static<typeof StoredSbom>;

const projectFields = {
  id: text("The project's id"),
  name: text("Its name, which no other in the workspace has"),
  provider: words(["upload", "git", "archive", "github", "gitlab"], "Where its documents come from"),
  product_id: textOrNull("The product that it is in; null: none"),
  scan_status: ScanStatusView,
  scan_queue_position: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    "x-addition": true,
    description:
      "How many projects are before it in the queue of scans, those included that are scanned now; 0: it is scanned now or is next; " +
      "null: no scan of it is waited for",
  }),
  last_scanned_at: textOrNull("When a scan was last completed, ISO 8601 in UTC; null: never"),
  vulnerability_counts: VulnerabilityCounts,
  findings_left_out: Type.Integer({
    "x-addition": true,
    description: `What the last scan found and did not write, for a project has at most ${projectFindingsMax} findings`,
  }),
};

export const ProjectView = Type.Object(projectFields, { description: "A project" });
export type ProjectView = Static<typeof ProjectView>;

const firstOf = <Item extends TSchema>(item: Item, description: string) =>
  Type.Object(
    { items: Type.Array(item, { description: "The first of them" }), total: count("How many there are in all") },
    { description },
  );

const Match = Type.Object(
  {
    state: words(
      ["known", "unknown", "not_matched"],
      "`known`: its version is held against what advisories say; `unknown`: it cannot be, so it is neither affected nor clean; " +
        "`not_matched`: it is of no ecosystem whose advisories are known",
    ),
    reason: textOrNull("Why not; null where it is known"),
  },
  { description: "Whether it can be held against advisories" },
);

export const ComponentView = Type.Object({
  name: text("As its ecosystem spells it, with its group or namespace"),
  version: textOrNull("As the document has it; null: it names none"),
  type: textOrNull("In the words of CycloneDX, such as `library`; null: not told"),
  ecosystem,
  purl: textOrNull("Its package URL as the document has it; null: none that can be read"),
  licenses: Type.Array(Type.String(), { description: "Ids, names or expressions" }),
  relation: words(["direct", "transitive", "unknown"], "How the root needs it; `unknown`: the document does not say"),
  path: Type.Array(Type.String(), {
    description: "Names from the root to it on a shortest way, of a long one the last, behind `…`; empty: none leads to it",
  }),
  scope: textOrNull("`required`, `optional`, or `excluded` for what is needed for development and tests alone; null: not told"),
  vulnerabilities: count("How many it has: findings that are open or in progress and no false positives"),
  match: Match,
});
export type ComponentView = Static<typeof ComponentView>;

const UnknownView = Type.Object({
  component: text("Name of the package"),
  version: text("As the document has it; empty: it names none"),
  cve_id: text("The issue that it cannot be held against"),
  reason: text("Why not"),
});

const SbomView = Type.Object({
  id: text("The document's id"),
  format: text("What it is written in"),
  spec_version: text("Version of the format"),
  name: textOrNull("What it calls itself"),
  filename: textOrNull("What it was called when it was uploaded"),
  uploaded_at: text("When its bytes came first, ISO 8601 in UTC"),
});

const MetricsView = Type.Object(
  {
    components: count("Of the present document, nested ones included, without its root"),
    vulnerable_components: count("Versions of packages with live findings"),
    findings_open: count("Findings with this status, whatever their flag"),
    findings_in_progress: count("Likewise"),
    findings_ignored: count("Likewise"),
    findings_resolved: count("Likewise"),
    false_positives: count("Findings with the flag, whatever their status"),
    fixable: count("Live findings for which a version is known that is not affected"),
  },
  { description: "What the project is made of and has, in numbers" },
);

export const ProjectDetailsView = Type.Object(
  {
    ...projectFields,
    repository: textOrNull("Address of the repository that it was imported from; null: none"),
    scan_failure: textOrNull("Why the last scan failed; null: it did not"),
    created_at: text("ISO 8601 in UTC"),
    sbom: Type.Union([SbomView, Type.Null()], { description: "Its present document; null: none was uploaded" }),
    components: firstOf(ComponentView, "What it is made of, in the order of the document"),
    vulnerabilities: firstOf(VulnerabilityRow, "What affects it and is live, the worst first"),
    unknown_matches: firstOf(UnknownView, "What cannot be held against advisories, and why"),
    metrics: MetricsView,
  },
  { description: "A project with what it is made of and what follows from it" },
);
export type ProjectDetailsView = Static<typeof ProjectDetailsView>;
