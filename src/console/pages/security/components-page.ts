/**
 * Where a component is, in all projects: for the hour in which a vulnerability becomes known and no advisory names it yet. Each row says how
 * old its SBOM is, since a component that came later is not in it. The file has every row that the search reads.
 */
import { DomainError } from "../../../accounts/errors.ts";
import type { GivenTo } from "../../../control-api/endpoint.ts";
import { componentEndpoints } from "../../../control-api/endpoints/projects.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { listRowsMax } from "../../../http/limits.ts";
import { componentSearchCharactersMax, componentsSearchedMax } from "../../../security/limits.ts";
import type { FoundComponent, FoundComponentPage } from "../../../security/projects/component-search.ts";
import { address, filterForm, type Filter } from "../../look/forms.ts";
import { arrangedList, type ListColumn } from "../../look/list-view.ts";
import { emptyState, notice, time, userText } from "../../look/parts.ts";
import { sentence } from "../../page-forms.ts";
import { queryFields, type Page, type PageCall, type PageContent } from "../../page.ts";
import { pageRows, rowsInput, rowsLinks, skippedRows } from "../rows-query.ts";
import { ecosystemName, relationName } from "./words.ts";

export const componentsPage: Page = {
  of: "workspace",
  path: "/components",
  list: "components",
  navigation: null,
  reference: "tools",
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
  csv,
  deadlineMs: 30_000,
};

type Sought = Pick<GivenTo<typeof componentEndpoints.find>, "name" | "exact">;

/** null: no name was typed. */
function soughtIn({ query }: PageCall): Sought | null {
  const { name, exact } = queryFields(query, ["name", "exact"]);
  return name === undefined ? null : { name, ...(exact !== undefined && { exact }) };
}

async function render(call: PageCall): Promise<PageContent> {
  const sought = soughtIn(call);
  const { found, problem } = sought === null ? { found: none, problem: null } : await search(sought, call);
  const list = componentList(found, call);
  const filters = { ...sought };
  const csvPath = address(call.path, { ...filters, as: "csv" });
  return {
    title: "Components",
    trail: [{ path: call.link("/projects"), label: "Projects" }],
    lead: "Where a component is, by the current SBOM of each project. A name also finds what begins with it, such as log4j; a package URL finds exactly its package, and with a version only that version.",
    actions: found.data.length === 0 ? null : markup`${list.view}<a class="button quiet" href="${csvPath}">CSV</a>`,
    main: markup`${filterForm({ path: call.path, filters: filtersOf(sought), kept: list.kept })}
      ${problem === null ? null : notice({ tone: "bad", words: sentence(problem) })}
      ${found.cut ? notice({ tone: "warn", words: `More than ${componentsSearchedMax.toLocaleString("en-US")} components match, and the rest is left out. Give more of the name.` }) : null}
      ${problem === null ? list.table : null}
      ${found.data.length === 0 ? null : counts(found, { call, filters: { ...filters, ...list.kept } })}`,
  };
}

const none: FoundComponentPage = { data: [], total: 0, projects: 0, cut: false };

/** A name that cannot be searched for is said beside the field, in which it can be mended. */
async function search(sought: Sought, call: PageCall): Promise<{ found: FoundComponentPage; problem: string | null }> {
  try {
    return { found: await call.control(componentEndpoints.find, { ...sought, ...rowsInput(call) }), problem: null };
  } catch (error) {
    if (error instanceof DomainError && error.code === "invalid_field") return { found: none, problem: error.message };
    throw error;
  }
}

function filtersOf(sought: Sought | null): Filter[] {
  const choices = [
    { value: "", label: "Begins with it" },
    { value: "true", label: "Is exactly it" },
  ];
  return [
    {
      name: "name",
      label: "Name or package URL",
      kind: "text",
      value: sought?.name ?? "",
      charactersMax: componentSearchCharactersMax,
    },
    { name: "exact", label: "The name", kind: "choice", value: sought?.exact === "true" ? "true" : "", choices },
  ];
}

function counts(
  { data, total, projects }: FoundComponentPage,
  { call, filters }: { call: PageCall; filters: Record<string, string> },
) {
  const where = `${projects.toLocaleString("en-US")} ${projects === 1 ? "project" : "projects"}`;
  return markup`${rowsLinks(call, { found: data.length, what: "Components", filters })}
    <p class="under">${total.toLocaleString("en-US")} found in ${where}</p>`;
}

function componentList({ data }: FoundComponentPage, call: PageCall) {
  const name = call.query.get("name")?.trim() ?? "";
  const projects = markup`<a class="button quiet" href="${call.link("/projects")}">See the projects</a>`;
  return arrangedList<FoundComponent>(
    {
      caption: "Components",
      columns: columnsOf(call),
      rows: data.slice(0, pageRows),
      empty:
        name === ""
          ? emptyState("Type the name of a component, or paste its package URL.", projects)
          : emptyState(`No current SBOM has a component “${name}”. Try the beginning of its name.`, projects),
      isWhole: skippedRows(call) === 0 && data.length <= pageRows,
      order: "in order of projects",
    },
    call,
  );
}

function columnsOf(call: PageCall): ListColumn<FoundComponent>[] {
  const pathOf = ({ project_id: id }: FoundComponent, part = ""): string => call.link(`/projects/${id}${part}`);
  const open = (row: FoundComponent): Html | null =>
    row.open_findings === 0
      ? null
      : markup`<a href="${address(pathOf(row), { component: row.component })}">${row.open_findings.toLocaleString("en-US")}</a>`;
  /** Leads to the way by which the project depends on it. */
  const component = (row: FoundComponent): Html =>
    markup`<a href="${address(pathOf(row, "/components"), { text: row.component })}">${userText(row.component)}</a>`;
  return [
    {
      name: "project",
      label: "Project",
      kind: "text",
      by: ({ project }) => project,
      cell: (row) => markup`<a href="${pathOf(row)}">${userText(row.project)}</a>`,
    },
    { name: "component", label: "Component", kind: "text", by: (row) => row.component, cell: component },
    { name: "version", label: "Version", kind: "text", by: ({ version }) => version, cell: ({ version }) => version },
    {
      name: "ecosystem",
      label: "Ecosystem",
      kind: "text",
      by: (row) => ecosystemName(row.ecosystem),
      cell: (row) => ecosystemName(row.ecosystem),
    },
    {
      name: "dependency",
      label: "Dependency",
      kind: "text",
      by: ({ relation }) => relation,
      cell: ({ relation }) => relationName(relation),
    },
    { name: "findings", label: "Open findings", kind: "number", by: (row) => row.open_findings, cell: open },
    {
      name: "sbom",
      label: "SBOM of",
      kind: "time",
      by: (row) => row.sbom_uploaded_at,
      cell: (row) => time(row.sbom_uploaded_at),
    },
    { name: "purl", label: "Package URL", kind: "text", isExtra: true, by: ({ purl }) => purl, cell: ({ purl }) => purl },
  ];
}

async function csv(call: PageCall): Promise<CsvFile> {
  const sought = soughtIn(call);
  const rows: FoundComponent[] = [];
  for (let total = sought === null ? 0 : 1; sought !== null && rows.length < total;) {
    const page = { limit: String(listRowsMax), offset: String(rows.length) };
    const found = await call.control(componentEndpoints.find, { ...sought, ...page });
    rows.push(...found.data);
    total = found.data.length === 0 ? 0 : found.total;
  }
  return {
    name: "components",
    columns: [...csvColumns],
    rows: rows.map((row) => csvColumns.map((name) => row[name])),
  };
}

const csvColumns = [
  "project",
  "project_id",
  "component",
  "version",
  "ecosystem",
  "purl",
  "relation",
  "open_findings",
  "sbom_id",
  "sbom_uploaded_at",
] as const;
