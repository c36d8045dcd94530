/**
 * The vulnerabilities of a workspace's components, the most severe first; an id also finds any other known vulnerability.
 */
import { vulnerabilityEndpoints } from "../../../control-api/endpoints/vulnerabilities.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { VulnerabilityPage } from "../../../security/findings/lists/list-vulnerabilities.ts";
import type { VulnerabilityRecord } from "../../../security/vulnerabilities/schema.ts";
import { queryFields, type QueryFields, type Page, type PageCall, type PageContent } from "../../page.ts";
import { filterForm } from "../../look/forms.ts";
import { emptyState, table, userText } from "../../look/parts.ts";
import { pageRows, rowsInput, rowsLinks } from "../rows-query.ts";
import { exploitColumns } from "./finding-list.ts";
import { blindNotice } from "./knowledge.ts";
import { ecosystemFilter, ecosystemName, severityBadge, severityFilter } from "./words.ts";

export const vulnerabilitiesPage: Page = {
  of: "workspace",
  path: "/vulnerabilities",
  navigation: { section: "Security", label: "Vulnerabilities", icon: "vulnerabilities" },
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const value = (name: string): string => (call.query.get(name) ?? "").trim();
  const [id, severity, ecosystem] = [value("id"), value("severity"), value("ecosystem")];
  const filters = queryFields(call.query, ["severity", "ecosystem"]);
  const rows = id === "" ? (await found(call, filters)).data : [rowOf(await call.control(vulnerabilityEndpoints.show, { id }))];
  const blind = rows.length > 0 ? null : await blindNotice(call);
  const form = filterForm({
    path: call.path,
    filters: [{ name: "id", label: "Id", kind: "text", value: id }, severityFilter(severity), ecosystemFilter(ecosystem)],
  });
  return {
    title: "Vulnerabilities",
    lead: "What is open in this workspace's projects, the most severe first. Search for the id of any other known vulnerability.",
    main: markup`${form}${blind}${list(rows.slice(0, pageRows), { call, isFiltered: Object.keys(filters).length > 0, isBlind: blind !== null })}
      ${id === "" && rows.length > 0 ? rowsLinks(call, { found: rows.length, what: "Vulnerabilities", filters }) : null}`,
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
}

function list(rows: readonly Shown[], { call, isFiltered, isBlind }: Listing): Html {
  const name = ({ cve_id: id, description }: Shown): Html =>
    markup`<a href="${call.link(`/vulnerabilities/${encodeURIComponent(id)}`)}">${userText(id)}</a><span class="under"><bdi>${description.slice(0, 160)}</bdi></span>`;
  const component = ({ affected_component: one, affected_components_count: all }: Shown) =>
    one === "" ? null : `${one.replace(/(?<=.)@(?=[^@]*$)/, " ")}${all > 1 ? ` and ${all - 1} more` : ""}`;
  return table<Shown>({
    caption: "Vulnerabilities",
    columns: [
      { label: "Vulnerability", kind: "text", cell: name },
      { label: "Severity", kind: "badge", cell: ({ severity, cvss_score: score }) => severityBadge(severity, score) },
      ...exploitColumns,
      { label: "Component", kind: "text", cell: component },
      { label: "Fixed in", kind: "text", cell: ({ fix_version: fix }) => fix },
      { label: "Ecosystem", kind: "text", cell: ({ ecosystem }) => ecosystemName(ecosystem) },
      { label: "Projects", kind: "number", cell: ({ affected_projects_count: projects }) => projects },
    ],
    rows,
    empty: isFiltered
      ? emptyState(
          "No open vulnerability matches these filters.",
          markup`<a class="button quiet" href="${call.path}">Show all</a>`,
        )
      : emptyState(
          isBlind
            ? "Nothing is open among the components that were compared."
            : "No component has a known vulnerability that is open.",
          markup`<a class="button quiet" href="${call.link("/projects")}">See the projects</a>`,
        ),
  });
}
