/**
 * The findings of a workspace: filters in the address, one decision about several of them, and the file of what the filters show. It begins
 * with what is left to do. A filter that no index serves searches only part of the findings for a page; "Next" continues from there.
 */
import type { GivenTo } from "../../../control-api/endpoint.ts";
import { findingEndpoints } from "../../../control-api/endpoints/findings.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { listRowsMax } from "../../../http/limits.ts";
import { asset } from "../../../http/page.ts";
import type { FindingRow } from "../../../security/findings/lists/list-rows.ts";
import type { FindingPage } from "../../../security/findings/lists/search-findings.ts";
import { type FormFields, queryFields, type ActionResult, type Page, type PageCall, type PageContent } from "../../page.ts";
import { findingCsvRowsMax } from "../../limits.ts";
import { address, filterForm, type Filter } from "../../look/forms.ts";
import { emptyState, cursorLinks, table, type Column, userText } from "../../look/parts.ts";
import { statusBadge, statusFilter, bulkForm, bulkFormId, triageChosen, triagedWords } from "./triage.ts";
import { blindNotice } from "./knowledge.ts";
import { severityBadge, ecosystemFilter, severityFilter } from "./words.ts";

export const findingsPage: Page = {
  of: "workspace",
  path: "/findings",
  navigation: { section: "Security", label: "Findings", icon: "findings" },
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [asset("script", [new URL("findings.js", import.meta.url)])],
  render,
  actions: { triage },
  csv,
};

async function render(call: PageCall): Promise<PageContent> {
  const found = await call.control(findingEndpoints.search, inputOf(call.query));
  const mayDecide = call.workspace.role !== "auditor";
  const query = queryFields(call.query, names);
  const isFiltered = Object.keys(query).length > 0;
  const csvPath = address(call.path, { ...query, as: "csv" });
  return {
    title: "Findings",
    lead: "A finding is a vulnerability in a component of a project. The list begins with what is left to do: open or in progress, the most severe first.",
    actions:
      found.data.length === 0
        ? null
        : markup`<a class="button quiet" href="${csvPath}">CSV of the first ${findingCsvRowsMax.toLocaleString("en-US")}</a>`,
    main: markup`${filterForm({ path: call.path, filters: filtersOf(call.query) })}
      ${mayDecide ? null : markup`<p class="hint">Auditors are read-only: they do not triage findings.</p>`}
      ${mayDecide && found.data.length > 0 ? markup`<p><button type="button" class="quiet small" data-chooses-all="finding" hidden>Select all on this page</button> <a href="#triage-title">Triage the selected findings</a></p>` : null}
      ${found.data.length > 0 ? null : await blindNotice(call)}
      ${list(found, { call, mayDecide, isFiltered })}
      ${pageLinks(found, { call, query })}
      ${mayDecide && found.data.length > 0 ? await bulkForm(call) : null}`,
  };
}

interface Listing {
  call: PageCall;
  mayDecide: boolean;
  isFiltered: boolean;
}

function list({ data, next }: FindingPage, { call, mayDecide, isFiltered }: Listing): Html {
  return table<FindingRow>({
    caption: "Findings",
    columns: columns(call, mayDecide),
    rows: data,
    empty: nothing(call, { next, isFiltered }),
  });
}

function columns(call: PageCall, mayDecide: boolean): Column<FindingRow>[] {
  const chosen = new Set<string>(call.refused?.form.all("finding") ?? []);
  const name = ({ id, cve_id: cve, component }: FindingRow): Html => {
    const link = markup`<a href="${call.link(`/findings/${id}`)}">${userText(cve)}</a>`;
    if (!mayDecide) return link;
    const checked = chosen.has(id) ? markup` checked` : null;
    return markup`<input type="checkbox" name="finding" value="${id}" form="${bulkFormId}" aria-label="Select ${cve} in ${component}"${checked} autocomplete="off" /> ${link}`;
  };
  return [
    { label: "Vulnerability", kind: "text", cell: name },
    { label: "Severity", kind: "badge", cell: ({ severity, cvss_score: score }) => severityBadge(severity, score) },
    {
      label: "Component",
      kind: "text",
      cell: ({ component, component_version: version }) => `${component}${version === "" ? "" : ` ${version}`}`,
    },
    { label: "Fixed in", kind: "text", cell: ({ fix_version: fix }) => fix },
    {
      label: "Project",
      kind: "text",
      cell: ({ project, project_id: id }) => markup`<a href="${call.link(`/projects/${id}`)}">${userText(project)}</a>`,
    },
    { label: "Status", kind: "badge", cell: statusBadge },
  ];
}

function nothing(call: PageCall, { next, isFiltered }: { next: string | null; isFiltered: boolean }): Html {
  if (next !== null)
    return emptyState("None of the findings that were searched for this page matches. There are more to search.", null);
  if (isFiltered)
    return emptyState(
      "No finding matches these filters.",
      markup`<a class="button quiet" href="${call.path}">Show all that are open</a>`,
    );
  const upload =
    call.workspace.role === "auditor" ? null : markup`<a class="button" href="${call.link("/projects/new")}">Upload an SBOM</a>`;
  return emptyState("Nothing is open. Findings appear when a scan finds a vulnerability in a project's SBOM.", upload);
}

function pageLinks(
  { data, total, next }: FindingPage,
  { call, query }: { call: PageCall; query: Record<string, string> },
): Html | null {
  const counted = total === null ? "" : ` of ${total.toLocaleString("en-US")}`;
  const shown = `${data.length} findings${counted}`;
  const nextPath = next === null ? null : address(call.path, { ...query, after: next });
  const firstPath = call.query.has("after") ? address(call.path, query) : null;
  return cursorLinks({ shown, firstPath, nextPath }) ?? (data.length === 0 ? null : markup`<p class="under">${shown}</p>`);
}

async function triage(call: PageCall, form: FormFields): Promise<ActionResult> {
  const made = await triageChosen(call, form);
  return {
    goTo: address(call.path, { ...queryFields(call.query, names), after: call.query.get("after") ?? undefined }),
    said: triagedWords(made),
  };
}

async function csv(call: PageCall): Promise<CsvFile> {
  return findingCsvRows(call, inputOf(call.query));
}

// The filters of the list of findings, in its address.

const names = ["text", "severity", "status", "ecosystem", "fixable", "project", "product", "vulnerability"] as const;

/** The filters as the control API's fields. */
function inputOf(query: URLSearchParams): GivenTo<typeof findingEndpoints.search> {
  const { status = "live", ...set } = queryFields(query, names);
  const after = query.get("after") ?? "";
  return { ...set, ...(status !== "all" && { status }), ...(after !== "" && { after }) };
}

function filtersOf(query: URLSearchParams): Filter[] {
  const value = (name: (typeof names)[number]): string => (query.get(name) ?? "").trim();
  const named = (name: "product" | "vulnerability", label: string): Filter[] =>
    value(name) === "" ? [] : [{ name, label, kind: "text", value: value(name) }];
  const fixable = [
    { value: "", label: "Either" },
    { value: "true", label: "With a fix" },
    { value: "false", label: "Without a fix" },
  ];
  return [
    { name: "text", label: "Id or component", kind: "text", value: value("text") },
    severityFilter(value("severity")),
    statusFilter(value("status")),
    ecosystemFilter(value("ecosystem")),
    { name: "fixable", label: "Fix", kind: "choice", value: value("fixable"), choices: fixable },
    { name: "project", label: "Project", kind: "text", value: value("project") },
    ...named("product", "Product"),
    ...named("vulnerability", "Vulnerability"),
  ];
}

// The rows of the list as a file: the same filters, up to a bound.

/** A search that matches few rows stops after this many pages. */
const pagesMax = 2 * (findingCsvRowsMax / listRowsMax);

const csvColumns: [string, (row: FindingRow) => string | number | null][] = [
  ["id", (row) => row.id],
  ["vulnerability", (row) => row.cve_id],
  ["severity", (row) => row.severity],
  ["cvss_score", (row) => row.cvss_score],
  ["status", (row) => row.status],
  ["false_positive", (row) => String(row.false_positive)],
  ["component", (row) => row.component],
  ["version", (row) => row.component_version],
  ["ecosystem", (row) => row.ecosystem],
  ["fix_version", (row) => row.fix_version],
  ["project", (row) => row.project],
  ["project_id", (row) => row.project_id],
  ["first_seen", (row) => row.first_seen],
  ["last_seen", (row) => row.last_seen],
];

async function findingCsvRows(call: PageCall, input: GivenTo<typeof findingEndpoints.search>): Promise<CsvFile> {
  const rows: FindingRow[] = [];
  let after = input["after"] ?? null;
  for (let pages = 0; pages < pagesMax && rows.length < findingCsvRowsMax; pages++) {
    const limit = String(Math.min(listRowsMax, findingCsvRowsMax - rows.length));
    const page = await call.control(findingEndpoints.search, { ...input, limit, ...(after !== null && { after }) });
    rows.push(...page.data);
    after = page.next;
    if (after === null) break;
  }
  return {
    name: "findings",
    columns: csvColumns.map(([name]) => name),
    rows: rows.map((row) => csvColumns.map(([, read]) => read(row))),
  };
}
