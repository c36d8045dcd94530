/**
 * Projects as the API shows them: rows of lists, details, and the SBOM that an upload stores. A project that does not exist or belongs to
 * another workspace is not found.
 */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import type { Queries } from "../../backing/backing.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { VulnerabilityCounts, VulnerabilityRow, countVulnerabilities } from "../findings/lists/list-rows.ts";
import { ecosystem } from "../findings/schema.ts";
import { advisoryStaleMs, projectFindingsMax } from "../limits.ts";
import { resourceNotFound } from "../resource.ts";
import { selectQueuePositions } from "../scans/store.ts";
import { selectProject, type ListedProject } from "./store.ts";

const count = (description: string) => Type.Integer({ description });
const words = <Word extends string>(all: readonly Word[], description: string) =>
  Type.Unsafe<Word>(
    Type.Union(
      all.map((word) => Type.Literal(word)),
      { description },
    ),
  );

const ScanStatusView = words(
  ["never", "pending", "scanning", "completed", "failed", "not_comparable"],
  "State of the last scan: `never` requested, `pending`, `scanning`, `completed` against all advisories known at its start, `failed`, or " +
    "`not_comparable`: there are no advisories for any of its components, so that finding nothing means nothing",
);

const Warnings = Type.Array(Type.String(), {
  "x-addition": true,
  description:
    "What its format forbids and was read nevertheless, package URLs that cannot be read, and what of a repository is not watched: the first place of each kind, and how many more",
});

const notCompared = Type.Integer({
  "x-addition": true,
  description:
    "Components of its SBOM that no advisory can be compared with: there are none for their ecosystem, or their package URL or version cannot be read",
});

export const StoredSbom = Type.Object(
  {
    sbom_id: text("The SBOM's id; the same bytes in the same project have the same id"),
    project_id: text("The project whose current SBOM it is"),
    format: words(["CycloneDX", "SPDX"], "Its format"),
    spec_version: text("Version of the format, such as `1.6`"),
    components: count("Number of its components, including nested ones, without the root"),
    components_not_compared: notCompared,
    warnings: Warnings,
    scan_status: ScanStatusView,
  },
  { description: "A stored SBOM" },
);
export type StoredSbom = Static<typeof StoredSbom>;

const projectFields = {
  id: text("The project's id"),
  name: text("Its name, unique in the workspace"),
  provider: words(
    ["upload", "git", "archive", "github", "gitlab", "sample"],
    "Where its SBOMs come from; `sample`: Weir's sample data",
  ),
  product_id: textOrNull("Id of its product; null: none"),
  scan_status: ScanStatusView,
  scan_queue_position: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    "x-addition": true,
    description:
      "How many projects are before it in the queue of scans, including those that are being scanned; 0: it is being scanned or is next; " +
      "null: no scan of it is waiting",
  }),
  last_scanned_at: textOrNull("When a scan was last completed, ISO 8601 in UTC; null: never"),
  vulnerability_counts: VulnerabilityCounts,
  components_not_compared: notCompared,
  findings_left_out: Type.Integer({
    "x-addition": true,
    description: `Findings of the last scan that were not stored, since a project has at most ${projectFindingsMax} findings`,
  }),
};

export const ProjectView = Type.Object(projectFields, { description: "A project" });
export type ProjectView = Static<typeof ProjectView>;

const firstOf = <Item extends TSchema>(item: Item, description: string) =>
  Type.Object(
    { items: Type.Array(item, { description: "The first items" }), total: count("The number of all items") },
    { description },
  );

const Match = Type.Object(
  {
    state: words(
      ["known", "unknown", "not_matched"],
      "`known`: its version is compared with advisories; `unknown`: its version cannot be compared, so it may be affected; " +
        "`not_matched`: there are no advisories for its ecosystem",
    ),
    reason: textOrNull("Why not; null for `known`"),
  },
  { description: "Whether it can be compared with advisories" },
);

export const ComponentView = Type.Object({
  name: text("Its name as its ecosystem writes it, with the group or namespace"),
  version: textOrNull("Its version in the SBOM; null: none"),
  type: textOrNull("Its CycloneDX type, such as `library`; null: unknown"),
  ecosystem,
  purl: textOrNull("Its package URL as the SBOM writes it, even if it cannot be read; null: none"),
  licenses: Type.Array(Type.String(), { description: "Ids, names or expressions" }),
  relation: words(["direct", "transitive", "unknown"], "How the root depends on it; `unknown`: the SBOM does not say"),
  path: Type.Array(Type.String(), {
    description:
      "Names on a shortest path from the root to it; a long path has its last names after `…`; empty: no path leads to it",
  }),
  scope: textOrNull("`required`, `optional`, or `excluded` when it is needed only for development and tests; null: unknown"),
  vulnerabilities: count("Number of its findings that are open or in progress and no false positives"),
  match: Match,
});
export type ComponentView = Static<typeof ComponentView>;

const UnknownView = Type.Object({
  component: text("Name of the package"),
  version: text("Its version in the SBOM; empty: none"),
  cve_id: text("The issue that it cannot be compared with"),
  reason: text("Why not"),
});

const SbomView = Type.Object({
  id: text("The SBOM's id"),
  format: text("Its format"),
  spec_version: text("Version of the format"),
  name: textOrNull("Its name for itself"),
  filename: textOrNull("Name of the uploaded file"),
  warnings: Warnings,
  uploaded_at: text("When these bytes were first uploaded, ISO 8601 in UTC"),
});

export const CoverageView = Type.Object({
  ecosystem: {
    ...ecosystem,
    description: "The ecosystem; null: none that is known, or no package URL that can be read",
  },
  components: count("Components of it"),
  not_compared: count("Those among them that no advisory can be compared with"),
  unreadable_purls: Type.Integer({
    "x-addition": true,
    description: "Those among them whose package URL cannot be read; `match` of each component says why",
  }),
  advisories_updated_at: textOrNull(
    "How current its advisories are, ISO 8601 in UTC: when its published archive was last taken over, else the newest record; null: there are none, or not all of a first synchronization",
  ),
  incomplete: Type.Boolean({
    description: "Whether nothing is compared with it since its first synchronization is not complete",
  }),
  stale: Type.Boolean({ description: `Whether they are older than ${advisoryStaleMs / 86_400_000} days` }),
});
export type CoverageView = Static<typeof CoverageView>;

const MetricsView = Type.Object(
  {
    components: count("Components of the current SBOM, including nested ones, without the root"),
    vulnerable_components: count("Versions of packages with live findings"),
    findings_open: count("Findings with this status, including false positives"),
    findings_in_progress: count("Likewise, for this status"),
    findings_ignored: count("Likewise, for this status"),
    findings_not_affected: Type.Integer({ "x-addition": true, description: "Likewise, for this status" }),
    findings_resolved: count("Likewise, for this status"),
    false_positives: count("False positives in any status"),
    fixable: count("Live findings with a known version that is not affected"),
    advisories_updated_at: Type.Union([Type.String(), Type.Null()], {
      "x-addition": true,
      description:
        "How current the oldest advisories are that its components were compared with, ISO 8601 in UTC; null: there are none",
    }),
    coverage: Type.Array(CoverageView, {
      "x-addition": true,
      description: "What its components were compared with, the largest ecosystem first",
    }),
  },
  { description: "Counts of the project" },
);

export const ProjectDetailsView = Type.Object(
  {
    ...projectFields,
    repository: textOrNull("Address of the imported repository; null: none"),
    scan_failure: textOrNull("Why the last scan failed; null: it did not"),
    created_at: text("When it was created, ISO 8601 in UTC"),
    sbom: Type.Union([SbomView, Type.Null()], { description: "Its current SBOM; null: none was uploaded" }),
    components: firstOf(ComponentView, "Its components, in the order of the SBOM"),
    vulnerabilities: firstOf(VulnerabilityRow, "Its live vulnerabilities, the most severe first"),
    unknown_matches: firstOf(UnknownView, "Versions that cannot be compared with advisories, and the reason"),
    metrics: MetricsView,
  },
  { description: "A project with its components, vulnerabilities and counts" },
);
export type ProjectDetailsView = Static<typeof ProjectDetailsView>;

export interface ViewSources {
  sql: Queries;
  clock: Clock;
}

/** Views each project with its counts and its place in the queue of scans. */
export async function viewProjects(rows: readonly ListedProject[], { sql, clock }: ViewSources): Promise<ProjectView[]> {
  const ids = rows.map(({ id }) => id);
  const counts = await countVulnerabilities(ids, sql);
  const waiting = rows.filter(({ scanStatus }) => scanStatus === "pending" || scanStatus === "scanning").map(({ id }) => id);
  const positions =
    waiting.length === 0
      ? new Map<string, number>()
      : await selectQueuePositions({ projects: waiting, now: new Date(clock.now()) }, sql);
  return rows.map((row) => {
    const counted = counts.get(row.id);
    if (counted === undefined) throw new Error(`The project ${row.id} was not counted`);
    return {
      id: row.id,
      name: row.name,
      provider: row.provider,
      product_id: row.product,
      scan_status: row.scanStatus,
      scan_queue_position: positions.get(row.id) ?? null,
      last_scanned_at: row.lastScannedAt && isoTime(row.lastScannedAt.getTime()),
      vulnerability_counts: counted,
      components_not_compared: row.notCompared,
      findings_left_out: row.findingsLeftOut,
    };
  });
}

/** @throws DomainError not_found */
export async function viewProjectOf(
  { workspace, id }: { workspace: WorkspaceId; id: string },
  sources: ViewSources,
): Promise<ProjectView> {
  const row = await selectProject({ workspace, id }, sources.sql);
  const [view] = row === undefined ? [] : await viewProjects([row], sources);
  if (view === undefined) throw resourceNotFound("project", { id });
  return view;
}
