/**
 * The components of a project, paged, with their licences and how the project depends on each; the licences among them; and what cannot be
 * compared with an advisory. The file has all that the filters show.
 */
import type { GivenTo } from "../../../control-api/endpoint.ts";
import { projectPartEndpoints } from "../../../control-api/endpoints/projects.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { LicenseView } from "../../../security/projects/inventory.ts";
import type { ComponentView, ProjectDetailsView } from "../../../security/projects/schema.ts";
import { componentRowsMax } from "../../../security/limits.ts";
import { address, filterForm, type Filter } from "../../look/forms.ts";
import { badge, emptyState, section, table, userText } from "../../look/parts.ts";
import { queryFields, type Page, type PageCall, type PageContent } from "../../page.ts";
import { pageRows, rowsInput, rowsLinks } from "../rows-query.ts";
import { projectContent, projectId, projectPath, projectTab } from "./project-frame.ts";
import { ecosystemName, relationName } from "./words.ts";

export const projectComponentsPage: Page = { ...projectTab, path: "/projects/:id/components", render, csv, deadlineMs: 30_000 };

function render(call: PageCall): Promise<PageContent> {
  const csvPath = address(call.path, { ...filterFields(call.query), as: "csv" });
  return projectContent(call, {
    path: "/components",
    actions: markup`<a class="button quiet" href="${csvPath}">CSV</a>`,
    body: async (project) => {
      const found = await call.control(projectPartEndpoints.components, { ...inputOf(call), ...rowsInput(call) });
      const { data: licenses } = await call.control(projectPartEndpoints.licenses, { id: projectId(call) });
      const filters = filterFields(call.query);
      return markup`${filterForm({ path: call.path, filters: filtersOf(call.query) })}
        ${licenseList(licenses, call)}
        ${components(found.data.slice(0, pageRows), call)}
        ${found.data.length === 0 ? null : rowsLinks(call, { found: found.data.length, what: "Components", filters })}
        ${found.data.length === 0 ? null : markup`<p class="under">${found.total.toLocaleString("en-US")} in all</p>`}
        ${project.unknown_matches.total === 0 ? null : section("unknown", "What cannot be compared", unknownMatches(project))}`;
    },
  });
}

const names = ["text", "relation", "license", "vulnerable"] as const;

function filterFields(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name)?.trim() ?? ""] as const] : [])));
}

function inputOf(call: PageCall): GivenTo<typeof projectPartEndpoints.components> {
  return { id: projectId(call), ...queryFields(call.query, names) };
}

function filtersOf(query: URLSearchParams): Filter[] {
  const value = (name: (typeof names)[number]): string => (query.get(name) ?? "").trim();
  const choices = (...all: readonly (readonly [string, string])[]) => all.map(([one, label]) => ({ value: one, label }));
  return [
    { name: "text", label: "Name", kind: "text", value: value("text") },
    {
      name: "relation",
      label: "Dependency",
      kind: "choice",
      value: value("relation"),
      choices: choices(["", "Any"], ["direct", "Direct"], ["transitive", "Transitive"], ["unknown", "Not known"]),
    },
    {
      name: "vulnerable",
      label: "Vulnerabilities",
      kind: "choice",
      value: value("vulnerable"),
      choices: choices(["", "Any"], ["true", "With open ones"], ["false", "Without"]),
    },
    { name: "license", label: "Licence", kind: "text", value: value("license") },
  ];
}

function components(rows: readonly ComponentView[], call: PageCall): Html {
  return table<ComponentView>({
    caption: "Components",
    columns: [
      { label: "Name", kind: "text", cell: ({ name }) => name },
      { label: "Version", kind: "text", cell: ({ version }) => version },
      { label: "Ecosystem", kind: "text", cell: ({ ecosystem }) => ecosystemName(ecosystem) },
      { label: "Licences", kind: "text", cell: ({ licenses }) => (licenses.length === 0 ? null : licenses.join(", ")) },
      { label: "Dependency", kind: "text", cell: dependency },
      {
        label: "Open findings",
        kind: "number",
        cell: ({ name, vulnerabilities: count }) =>
          count === 0
            ? null
            : markup`<a href="${address(projectPath(call), { component: name })}">${count.toLocaleString("en-US")}</a>`,
      },
      { label: "Compared", kind: "badge", cell: compared },
    ],
    rows,
    empty: emptyState("No component matches.", markup`<a class="button quiet" href="${call.path}">Show all</a>`),
  });
}

/** With the path behind it, since a transitive component comes by another one. */
function dependency({ relation, path }: ComponentView): Html {
  if (relation !== "transitive" || path.length === 0) return markup`${relationName(relation)}`;
  return markup`<details><summary>${relationName(relation)}</summary>${userText(path.join(" → "))}</details>`;
}

function compared({ match: { state, reason } }: ComponentView): Html {
  if (state === "known") return badge("good", "yes");
  return markup`${badge("warn", state === "unknown" ? "not known" : "no")}${reason === null ? null : markup` <span class="under">${userText(reason)}</span>`}`;
}

/** Each licence leads to its components. The API calls components without one `none`. */
function licenseList(licenses: readonly LicenseView[], call: PageCall): Html | null {
  if (licenses.length === 0) return null;
  const items = licenses.map(({ license, components: count }) => {
    const path = address(call.path, { license: license === "" ? "none" : license });
    return markup`<li><a href="${path}">${license === "" ? markup`no licence named` : userText(license)}</a> <span class="count">${count.toLocaleString("en-US")}</span></li>`;
  });
  return markup`<details class="licenses"><summary>Licences: ${licenses.filter(({ license }) => license !== "").length}</summary><ul role="list">${items}</ul></details>`;
}

async function csv(call: PageCall): Promise<CsvFile> {
  const rows: ComponentView[] = [];
  for (;;) {
    const page = { limit: String(componentRowsMax), offset: String(rows.length) };
    const { data, total } = await call.control(projectPartEndpoints.components, { ...inputOf(call), ...page });
    rows.push(...data);
    if (data.length === 0 || rows.length >= total) break;
  }
  return {
    name: "components",
    columns: csvColumns.map(([name]) => name),
    rows: rows.map((row) => csvColumns.map(([, read]) => read(row))),
  };
}

const csvColumns: [string, (row: ComponentView) => string | number | null][] = [
  ["name", (row) => row.name],
  ["version", (row) => row.version],
  ["ecosystem", (row) => row.ecosystem],
  ["purl", (row) => row.purl],
  ["licenses", (row) => row.licenses.join(", ")],
  ["relation", (row) => row.relation],
  ["path", (row) => row.path.join(" > ")],
  ["scope", (row) => row.scope],
  ["open_findings", (row) => row.vulnerabilities],
  ["compared", (row) => row.match.state],
];

// Components whose versions cannot be compared with advisories: they may be affected.

type Unknown = ProjectDetailsView["unknown_matches"]["items"][number];

const rowsShown = 20;

function unknownMatches({ unknown_matches: { items, total } }: ProjectDetailsView): Html {
  const rows = items.slice(0, rowsShown);
  return markup`<p>These versions cannot be compared with what an advisory says, so whether they are affected is not known.</p>
    ${table<Unknown>({
      caption: "What cannot be compared",
      columns: [
        { label: "Component", kind: "text", cell: ({ component, version }) => `${component} ${version}`.trim() },
        { label: "Vulnerability", kind: "text", cell: ({ cve_id: id }) => id },
        { label: "Why not", kind: "text", cell: ({ reason }) => reason },
      ],
      rows,
      empty: markup``,
    })}${total > rows.length ? markup`<p class="under">${(total - rows.length).toLocaleString("en-US")} more are not shown.</p>` : null}`;
}
