/**
 * Searches the findings of a workspace, a product or a project, the most severe first. An exact id of a finding or a vulnerability is
 * looked up; any other text is searched for in component names. A page continues after the last finding of the previous page, not at an
 * offset.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../../accounts/errors.ts";
import type { Queries } from "../../../backing/backing.ts";
import { isToolsId } from "../../../kernel/ids.ts";
import { readIdentifier } from "../../advisories/advisory.ts";
import { findingPageBytesMax } from "../../limits.ts";
import { selectByName } from "../../vulnerabilities/store.ts";
import { fitPage } from "../fit-page.ts";
import { findingNotFound } from "../schema.ts";
import { SearchedFinding, viewRowFacts } from "./exploits.ts";
import {
  countFindings,
  isFiltered,
  selectPlace,
  selectPlaces,
  selectRowFacts,
  type FindingSearch,
  type FoundPlaces,
} from "./finding-search-store.ts";
import { selectFindingRows } from "./finding-list-store.ts";
import { viewFinding } from "./list-rows.ts";
import type { ListScope } from "./list-store.ts";

type GivenSearch = "scope" | "shown" | "ranks" | "ecosystem" | "fixable" | "exploited" | "owner" | "named" | "limit";

export interface SearchRequest extends Pick<FindingSearch, GivenSearch> {
  /** Any id of a vulnerability; null: any vulnerability. */
  vulnerability: string | null;
  /** The id of a finding or vulnerability, or part of a component's name; null: anything. */
  text: string | null;
  /** The id of the finding after which the page begins; null: the first page. */
  after: string | null;
}

export const FindingPage = Type.Object({
  data: Type.Array(SearchedFinding, { description: "What was found, the most severe first" }),
  total: Type.Union([Type.Integer(), Type.Null()], {
    description: "How many findings there are; null when another field than `status` and `severity` chooses among them",
  }),
  next: Type.Union([Type.String(), Type.Null()], {
    description:
      "`after` of the next page; null: there is none. A page may have fewer rows than its limit, even none, and a next one",
  }),
});
export type FindingPage = Static<typeof FindingPage>;

/** @throws DomainError not_found for an unknown vulnerability or an unknown `after`; invalid_field for a text that is not an id */
export async function searchFindings(request: SearchRequest, sql: Queries): Promise<FindingPage> {
  const { text: _text, vulnerability: _vulnerability, after: place, ...given } = request;
  const chosen = await chooseByText(request, sql);
  const after = place === null ? null : await requirePlace({ scope: given.scope, id: place }, sql);
  const search = { ...given, after, ...chosen };
  const { places, next } = chosen.finding === null ? await selectPlaces(search, sql) : onlyFinding(chosen.finding);
  const ids = places.map(({ id }) => id);
  const rows = await selectFindingRows(ids, sql);
  const facts = await selectRowFacts(ids, sql);
  const isWhole = !isFiltered(search) && request.vulnerability === null && request.text === null;
  const { rows: data } = fitPage({ items: rows, bytesMax: findingPageBytesMax, isShortened: false }, (row, shorten) => ({
    ...viewFinding(row, shorten),
    ...viewRowFacts(facts.get(row.id)),
  }));
  return { data, total: isWhole ? await countFindings(given, sql) : null, next: next?.id ?? null };
}

interface Chosen extends Pick<FindingSearch, "component" | "vulnerabilities"> {
  finding: string | null;
}

/** A known id is exact; any other text is searched for in names. */
export async function chooseByText({ scope, vulnerability, text }: Omit<SearchRequest, "after">, sql: Queries): Promise<Chosen> {
  if (vulnerability !== null) {
    return { finding: null, component: text, vulnerabilities: await requireIssues(vulnerability, sql) };
  }
  if (text === null) return { finding: null, component: null, vulnerabilities: null };
  if (isToolsId("fnd", text)) {
    await requirePlace({ scope, id: text }, sql);
    return { finding: text, component: null, vulnerabilities: null };
  }
  const id = readIdentifier(text);
  const issues = id === null ? [] : await selectByName(id, sql);
  if (issues.length === 0) return { finding: null, component: text, vulnerabilities: null };
  return { finding: null, component: null, vulnerabilities: issues.map((issue) => issue.id) };
}

async function requireIssues(vulnerability: string, sql: Queries): Promise<bigint[]> {
  const id = readIdentifier(vulnerability);
  const field = "vulnerability";
  if (id === null)
    throw new DomainError("invalid_field", `"${vulnerability}" is not the id of a vulnerability, such as CVE-2021-44228`, {
      field,
    });
  const issues = await selectByName(id, sql);
  if (issues.length === 0) throw new DomainError("not_found", `There is no vulnerability with the id "${id}"`, { field });
  return issues.map((issue) => issue.id);
}

async function requirePlace({ scope, id }: { scope: ListScope; id: string }, sql: Queries) {
  const place = await selectPlace({ scope, id }, sql);
  if (place === undefined) throw findingNotFound(id);
  return place;
}

function onlyFinding(id: string): FoundPlaces {
  return { places: [{ id, rank: 0 }], next: null };
}
