/**
 * The operation `list_vulnerabilities`, and the query for its page. A vulnerability is one row with the component, project and fix of its
 * worst live finding. A page fits into the size of a response. With a filter by ecosystem, the answer counts the vulnerabilities that it
 * leaves out because they have no ecosystem.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { listRowsMax } from "../../../http/limits.ts";
import { decimal, choiceField, listData, nextOffset, pageFields, shortPageAnswer, type Page } from "../../fields.ts";
import { operation, reading } from "../../operation.ts";
import { vulnerabilityRowsDefault, vulnerabilityPageBytesMax } from "../../limits.ts";
import { exploitFields, viewExploit } from "../../vulnerabilities/schema.ts";
import { selectExploits } from "../../vulnerabilities/store.ts";
import { fitPage } from "../fit-page.ts";
import { ecosystemNames, severities, ecosystemOfName, type EcosystemName, ranksOf, type Severity } from "../schema.ts";
import { listMessage, blindProjects, activeScope } from "./list-answer.ts";
import { VulnerabilityRow, viewVulnerability } from "./list-rows.ts";
import type { ListScope } from "./list-store.ts";
import { selectVulnerabilityPage } from "./vulnerability-list-store.ts";

export const listVulnerabilities = operation({
  title: "List vulnerabilities",
  description:
    "Lists the vulnerabilities that components of the active scope have, one row for each, the most severe first: those with a " +
    "finding that is open or in progress and no false positive. list_findings lists where they are.",
  annotations: reading,
  input: Type.Object({
    severity: choiceField([...severities, "all"], { title: "Of this severity; `all` includes those without one", normal: "all" }),
    ecosystem: choiceField([...ecosystemNames, "all"], { title: "With an affected component of this ecosystem", normal: "all" }),
    cvss_min: Type.Optional(decimal({ title: "With at least this CVSS score; 0 includes all", min: 0, max: 10 })),
    ...pageFields({ normal: vulnerabilityRowsDefault, max: listRowsMax }),
  }),
  data: listData("vulnerabilities", VulnerabilityRow, { next_offset: nextOffset }),
  async handle({ input, caller, isForMcp, parts: { sql } }) {
    const { severity, ecosystem, cvss_min: least = 0, limit, offset } = input;
    const query = {
      scope: activeScope(caller),
      severity,
      ecosystem,
      scoreMin: tenths(least),
      page: { limit, offset },
      isShortened: isForMcp,
    };
    const { total, unnamed, rows, cut } = await findVulnerabilities(query, sql);
    const page = shortPageAnswer({ limit, offset }, { total, rows: rows.length });
    const narrowed = severity !== "all" || ecosystem !== "all" || least > 0;
    const message = listMessage({
      plural: "vulnerabilities",
      page,
      rows: rows.length,
      cut,
      emptyAdvice: narrowed ? 'Ask again with severity and ecosystem "all" and without cvss_min' : null,
      blind: total > 0 ? null : await blindProjects(query.scope, sql),
      more: ecosystem === "all" ? null : `${unnamed} more carry no ecosystem and are left out by this filter`,
    });
    return { data: { vulnerabilities: rows, ...page }, message };
  },
});

interface VulnerabilityQuery {
  scope: ListScope;
  severity: Severity | "all";
  ecosystem: EcosystemName | "all";
  /** Ten times the lowest score; 0 includes all. */
  scoreMin: number;
  page: Page;
  /** Whether the page may have fewer rows to stay within its size. */
  isShortened: boolean;
}

/** A row that also says what is known of exploits. */
const RatedVulnerability = Type.Object({ ...VulnerabilityRow.properties, ...exploitFields });

export const VulnerabilityPage = Type.Object({
  data: Type.Array(RatedVulnerability, { description: "What was found, the most severe first" }),
  total: Type.Integer({ description: "How many there are" }),
});
export type VulnerabilityPage = Static<typeof VulnerabilityPage>;

interface FoundVulnerabilities {
  rows: Static<typeof VulnerabilityRow>[];
  total: number;
  /** Vulnerabilities without an ecosystem, which a filter by ecosystem leaves out. */
  unnamed: number;
  /** Whether texts of these rows were cut. */
  cut: boolean;
}

/** A page of the vulnerabilities of a scope, within the size of a response. */
export async function findVulnerabilities(
  { scope, severity, ecosystem, scoreMin, page, isShortened }: VulnerabilityQuery,
  sql: Queries,
): Promise<FoundVulnerabilities> {
  const { total, unnamed, rows } = await read({ scope, severity, ecosystem, scoreMin, page }, sql);
  return { ...fitPage({ items: rows, bytesMax: vulnerabilityPageBytesMax, isShortened }, viewVulnerability), total, unnamed };
}

/** The same as a whole page, with what is known of exploits. */
export async function pageOfVulnerabilities(
  query: Omit<VulnerabilityQuery, "isShortened">,
  sql: Queries,
): Promise<VulnerabilityPage> {
  const { total, rows: items } = await read(query, sql);
  const known = await selectExploits(
    items.map(({ id }) => id),
    sql,
  );
  const { rows } = fitPage({ items, bytesMax: vulnerabilityPageBytesMax, isShortened: false }, (row, shorten) => ({
    ...viewVulnerability(row, shorten),
    ...viewExploit(known.get(row.id)),
  }));
  return { data: rows, total };
}

function read({ scope, severity, ecosystem, scoreMin, page }: Omit<VulnerabilityQuery, "isShortened">, sql: Queries) {
  const filter = {
    scope,
    ecosystem: ecosystem === "all" ? null : ecosystemOfName(ecosystem),
    ranks: ranksOf(severity),
    scoreMin,
    page,
  };
  return selectVulnerabilityPage(filter, sql);
}

/** The lowest score with one decimal that is not below `score`, times ten: 0.7 gives 7, although 0.7 * 10 is slightly more. */
function tenths(score: number): number {
  return Math.ceil(Number((score * 10).toFixed(6)));
}
