/** A page of the vulnerabilities of a scope, within the bytes of a response. */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { vulnerabilityPageBytesMax } from "../../limits.ts";
import type { Page } from "../../api/operations/page.ts";
import { ecosystemOfName, type EcosystemName } from "../ecosystem-names.ts";
import { ranksOf, type Severity } from "../severity.ts";
import { fitPage } from "../fit-page.ts";
import type { ListScope } from "./list-store.ts";
import { selectVulnerabilityPage } from "./vulnerability-list-store.ts";
import { viewVulnerability, VulnerabilityRow } from "./vulnerability-row.ts";

export interface VulnerabilityQuery {
  scope: ListScope;
  severity: Severity | "all";
  ecosystem: EcosystemName | "all";
  /** Ten times the lowest score; 0 includes all. */
  scoreMin: number;
  page: Page;
  /** Whether the page may have fewer rows, for its size. */
  isShortened: boolean;
}

export const VulnerabilityPage = Type.Object({
  data: Type.Array(VulnerabilityRow, { description: "What was found, the most severe first" }),
  total: Type.Integer({ description: "How many there are" }),
});

export interface FoundVulnerabilities {
  rows: Static<typeof VulnerabilityRow>[];
  total: number;
  /** Those without an ecosystem, before that filter. */
  unnamed: number;
  /** Whether texts of these rows were cut. */
  cut: boolean;
}

export async function findVulnerabilities(
  { scope, severity, ecosystem, scoreMin, page, isShortened }: VulnerabilityQuery,
  sql: Queries,
): Promise<FoundVulnerabilities> {
  const filter = {
    scope,
    ecosystem: ecosystem === "all" ? null : ecosystemOfName(ecosystem),
    ranks: ranksOf(severity),
    scoreMin,
    page,
  };
  const { total, unnamed, rows } = await selectVulnerabilityPage(filter, sql);
  return { ...fitPage({ items: rows, bytesMax: vulnerabilityPageBytesMax, isShortened }, viewVulnerability), total, unnamed };
}
