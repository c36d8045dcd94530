/**
 * The vulnerabilities of a workspace's components, the most severe first; an id also finds any other known vulnerability.
 */
import { vulnerabilityEndpoints } from "../../../control-api/endpoints/vulnerabilities.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { VulnerabilityPage } from "../../../security/findings/lists/list-vulnerabilities.ts";
import type { VulnerabilityRecord } from "../../../security/vulnerabilities/schema.ts";
import { queryFields, type QueryFields, type Page, type PageCall, type PageContent } from "../../page.ts";
import { filterForm } from "../../look/forms.ts";
import { arrangedList, type ListColumn } from "../../look/list-view.ts";
import { emptyState, userText } from "../../look/parts.ts";
import { pageRows, rowsInput, rowsLinks, skippedRows } from "../rows-query.ts";
import { blindNotice } from "./knowledge.ts";
import { ecosystemFilter, ecosystemName, exploitColumns, severityColumn, severityFilter } from "./words.ts";

export const vulnerabilitiesPage: Page = {
  of: "workspace",
  path: "/vulnerabilities",
  list: "vulnerabilities",
  navigation: { section: "Security", label: "Vulnerabilities", icon: "vulnerabilities" },
  reference: "tools",
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const value = (name: string): string => (call.query.get(name) ?? "").trim();
  const [id, severity, ecosystem] = [value("id"), value("severity"), value("ecosystem")];
  const filters = queryFields(call.query, ["severity", "ecosystem"]);
  const rows = id === "" ? (await found(call, filters)).data : [rowOf(await call.control(vulnerabilityEndpoints.show, { id }))];
  const blind = rows.length > 0 ? null : await blindNotice(call);
  const isWhole = id !== "" || (skippedRows(call) === 0 && rows.length <= pageRows);
  const list = listOf(rows.slice(0, pageRows), {
    call,
    isFiltered: Object.keys(filters).length > 0,
    isBlind: blind !== null,
    isWhole,
  });
  const form = filterForm({
    path: call.path,
    kept: list.kept,
    filters: [{ name: "id", label: "Id", kind: "text", value: id }, severityFilter(severity), ecosystemFilter(ecosystem)],
  });
  return {
    title: "Vulnerabilities",
    lead: "What is open in this workspace's projects, the most severe first. Search for the id of any other known vulnerability.",
    actions: list.view,
    main: markup`${form}${blind}${list.table}
      ${id === "" && rows.length > 0 ? rowsLinks(call, { found: rows.length, what: "Vulnerabilities", filters: { ...filters, ...list.kept } }) : null}`,
  };
}

function found(call: PageCall, filters: QueryFields<"severity" | "ecosystem">): Promise<VulnerabilityPage> {
  return call.control(vulnerabilityEndpoints.list, { ...filters, ...rowsInput(call) });
}

function rowOf(record: VulnerabilityRecord): Shown {
  return { ...record, affected_component: record.affected_component ?? "" };
}

type Shown = Pick<
  VulnerabilityPage["data"][number],
  | "cve_id"
  | "severity"
  | "cvss_score"
  | "affected_component"
  | "fix_version"
  | "description"
  | "known_exploited_since"
  | "epss"
  | "affected_components_count"
  | "affected_projects_count"
> & { ecosystem: string | null };

interface Listing {
  call: PageCall;
  isFiltered: boolean;
  /** Whether a project cannot be compared with any advisory. */
  isBlind: boolean;
  /** Whether there are no more of them. */
  isWhole: boolean;
}

function listOf(rows: readonly Shown[], { call, isFiltered, isBlind, isWhole }: Listing) {
  const name = ({ cve_id: id, description }: Shown): Html =>
    markup`<a href="${call.link(`/vulnerabilities/${encodeURIComponent(id)}`)}">${userText(id)}</a><span class="under">${userText(description.slice(0, 160))}</span>`;
  const component = ({ affected_component: one, affected_components_count: all }: Shown) =>
    one === "" ? null : `${one.replace(/(?<=.)@(?=[^@]*$)/, " ")}${all > 1 ? ` and ${all - 1} more` : ""}`;
  const componentText = (row: Shown): Html | null => {
    const words = component(row);
    return words === null ? null : userText(words);
  };
  const columns: ListColumn<Shown>[] = [
    { name: "vulnerability", label: "Vulnerability", kind: "text", cell: name, by: ({ cve_id: id }) => id },
    severityColumn,
    ...exploitColumns,
    { name: "component", label: "Component", kind: "text", cell: componentText, by: component },
    { name: "fix", label: "Fixed in", kind: "text", cell: ({ fix_version: fix }) => fix, by: ({ fix_version: fix }) => fix },
    {
      name: "ecosystem",
      label: "Ecosystem",
      kind: "text",
      cell: ({ ecosystem }) => ecosystemName(ecosystem),
      by: ({ ecosystem }) => ecosystemName(ecosystem),
    },
    {
      name: "projects",
      label: "Projects",
      kind: "number",
      cell: ({ affected_projects_count: projects }) => projects,
      by: ({ affected_projects_count: projects }) => projects,
    },
  ];
  const empty = isFiltered
    ? emptyState("No open vulnerability matches these filters.", markup`<a class="button quiet" href="${call.path}">Show all</a>`)
    : emptyState(
        isBlind
          ? "Nothing is open among the components that were compared."
          : "No component has a known vulnerability that is open.",
        markup`<a class="button quiet" href="${call.link("/projects")}">See the projects</a>`,
      );
  return arrangedList({ caption: "Vulnerabilities", columns, rows, empty, isWhole, order: "the most severe first" }, call);
}
