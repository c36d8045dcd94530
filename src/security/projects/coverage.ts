/**
 * What the components of a project were compared with, and the sentences that say so next to every verdict: on pages, at gates, in reports
 * and in the tools API. A count of vulnerabilities says nothing about a component that no advisory was compared with, so every verdict
 * comes with its gaps.
 */
import type { Clock } from "../../kernel/clock.ts";
import type { Queries } from "../../backing/backing.ts";
import { advisoriesUpdatedAt, ecosystemAges, incompleteText } from "../advisories/ecosystem-ages.ts";
import { ecosystemNameOf, ecosystemOfName } from "../findings/schema.ts";
import { advisoryStaleMs } from "../limits.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";
import { selectEcosystemCounts } from "../scans/comparison-store.ts";
import type { CoverageView, ProjectDetailsView } from "./schema.ts";

/** @param sbom the project's current SBOM; null: none */
export async function viewCoverage(
  sbom: string | null,
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<Pick<ProjectDetailsView["metrics"], "coverage" | "advisories_updated_at">> {
  if (sbom === null) return { coverage: [], advisories_updated_at: null };
  const counts = await selectEcosystemCounts(sbom, sql);
  const ages = new Map((await ecosystemAges(sql)).map((age) => [age.ecosystem, age]));
  const coverage = counts.map(({ ecosystem, components, unreadable }): CoverageView => {
    const age = ecosystem === "" ? undefined : ages.get(ecosystem);
    const updatedAt = age === undefined ? null : advisoriesUpdatedAt(age);
    return {
      ecosystem: ecosystem === "" ? null : ecosystemNameOf(ecosystem),
      components,
      not_compared: updatedAt === null ? components : unreadable,
      unreadable_purls: ecosystem === "" ? unreadable : 0,
      advisories_updated_at: updatedAt,
      incomplete: (age?.sync_began_at ?? null) !== null,
      stale: updatedAt !== null && clock.now() - Date.parse(updatedAt) > advisoryStaleMs,
    };
  });
  const known = coverage.flatMap(({ advisories_updated_at: at }) => at ?? []).toSorted();
  return { coverage, advisories_updated_at: known[0] ?? null };
}

type Covered = Pick<ProjectDetailsView, "scan_status" | "unknown_matches"> & {
  metrics: Pick<ProjectDetailsView["metrics"], "components" | "coverage">;
};

/** Why nothing in the project can be compared; null: something can. */
export function blindness({ scan_status: status, metrics: { components, coverage } }: Covered): string | null {
  if (status !== "not_comparable") return null;
  if (components === 0) return "The SBOM has no components, so there is nothing to compare with advisories";
  if (coverage.length === 0) return "The SBOM names files but no packages, so there is nothing to compare with advisories";
  const subject = components === 1 ? "Its only component cannot" : `None of its ${counted(components)} can`;
  return `${subject} be compared with advisories: ${reasons(coverage).join("; ")}`;
}

/** How many components no advisory can be compared with. */
export function notComparedIn(coverage: readonly CoverageView[]): number {
  return coverage.reduce((sum, { not_compared: count }) => sum + count, 0);
}

/** What a scan left out, and what it compared with old advisories; empty: nothing. Only for projects that can be compared. */
export function gaps({ metrics: { components, coverage }, unknown_matches: { total: unknown } }: Covered): string[] {
  const left = notComparedIn(coverage);
  const stale = coverage.flatMap((one) => (one.stale && one.ecosystem !== null ? [ecosystemOfName(one.ecosystem)] : []));
  return [
    ...(left === 0
      ? []
      : [`${left.toLocaleString("en-US")} of ${counted(components)} cannot be compared: ${reasons(coverage).join("; ")}`]),
    ...(unknown === 0
      ? []
      : [
          `${unknown.toLocaleString("en-US")} of its versions cannot be compared with what an advisory says, and may be affected`,
        ]),
    ...(stale.length === 0
      ? []
      : [
          `The advisories for ${stale.join(", ")} are older than ${advisoryStaleMs / 86_400_000} days: newer vulnerabilities are not found`,
        ]),
  ];
}

/** The ecosystems of its components that lack some or all advisories, by their names in advisories, with the reason. */
export function withoutAdvisories({
  metrics: { coverage },
}: {
  metrics: { coverage: readonly CoverageView[] };
}): Map<Ecosystem, string> {
  return new Map(
    coverage.flatMap((one) => {
      if (one.ecosystem === null || one.advisories_updated_at !== null) return [];
      const name = ecosystemOfName(one.ecosystem);
      return [[name, one.incomplete ? incompleteText(name) : `there are no advisories for ${name}`] as const];
    }),
  );
}

function counted(components: number): string {
  return `${components.toLocaleString("en-US")} ${components === 1 ? "component" : "components"}`;
}

function reasons(coverage: readonly CoverageView[]): string[] {
  const blind = withoutAdvisories({ metrics: { coverage } });
  return coverage.flatMap(({ ecosystem, components, not_compared: left, unreadable_purls: broken }) => {
    if (left === 0) return [];
    if (ecosystem === null) {
      return [
        ...(broken === 0 ? [] : [`${counted(broken)} whose package URL cannot be read`]),
        ...(components === broken ? [] : [`${counted(components - broken)} of an unknown ecosystem`]),
      ];
    }
    const name = ecosystemOfName(ecosystem);
    const why = blind.get(name);
    if (why !== undefined) return [`${why} (${counted(components)})`];
    return [`${counted(left)} of ${name} without a readable version`];
  });
}
