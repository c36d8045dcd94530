/** The findings of a workspace: filters, and one decision about several of them. */
import { markup, type Html } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import type { FindingRow } from "../../../security/findings/lists/list-rows.ts";
import type { FindingPage } from "../../../security/findings/lists/search-findings.ts";
import type { FormFields } from "../../form.ts";
import { findingCsvRowsMax } from "../../limits.ts";
import { cursorLinks } from "../../look/cursor-links.ts";
import { address } from "../../look/forms/address.ts";
import { filterForm } from "../../look/forms/filter-form.ts";
import { emptyState } from "../../look/states.ts";
import { table, type Column } from "../../look/table.ts";
import { userText } from "../../look/user-text.ts";
import type { ActionResult, CsvFile, Page, PageCall, PageContent } from "../../page.ts";
import { blindNotice } from "../security/knowledge.ts";
import { severityBadge } from "../security/severity.ts";
import { findingCsvRows } from "./csv.ts";
import { filtersOf, inputOf, queryOf } from "./filters.ts";
import { statusBadge } from "./status.ts";
import { bulkForm, bulkFormId, triageChosen, triagedWords } from "./triage.ts";

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
  const found = await call.control<FindingPage>("GET", "/findings", inputOf(call.query));
  const mayDecide = call.workspace.role !== "auditor";
  const query = queryOf(call.query);
  const isFiltered = Object.keys(query).length > 0;
  const csvPath = address(call.path, { ...query, as: "csv" });
  return {
    title: "Findings",
    lead: "A finding is a vulnerability in a component of a project. The list begins with what is to do: open or in progress, the most severe first.",
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
      ${mayDecide && found.data.length > 0 ? bulkForm(call) : null}`,
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
  const chosen = new Set(call.refused?.form.all("finding") ?? []);
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
    goTo: address(call.path, { ...queryOf(call.query), after: call.query.get("after") ?? undefined }),
    said: triagedWords(made),
  };
}

async function csv(call: PageCall): Promise<CsvFile> {
  return findingCsvRows(call, inputOf(call.query));
}
