/**
 * The projects of a workspace with their vulnerabilities and scans. A project that was not scanned, or could not be compared, says so
 * instead of showing a zero.
 */
import { productEndpoints, projectEndpoints } from "../../../control-api/endpoints/projects.ts";
import { markup, type Html } from "../../../http/html.ts";
import { listRowsMax } from "../../../http/limits.ts";
import type { ProjectView } from "../../../security/projects/schema.ts";
import { filterForm, type Field } from "../../look/forms.ts";
import { arrangedList } from "../../look/list-view.ts";
import { emptyState, badge, time, userText } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { pageRows, rowsInput, rowsLinks, skippedRows } from "../rows-query.ts";
import { blindNotice, firstStartNotice } from "./knowledge.ts";
import { severityCounts, severityRank } from "./words.ts";

export const projectsPage: Page = {
  of: "workspace",
  path: "/projects",
  list: "projects",
  navigation: { section: "Security", label: "Projects", icon: "projects" },
  reference: "tools",
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

interface Listing {
  call: PageCall;
  /** Names by id; null: all rows belong to one product. */
  products: ReadonlyMap<string, string> | null;
  empty: Html;
}

/** A page of them, of which the list may have more. */
export function projectList(found: readonly ProjectView[], { call, products, empty }: Listing) {
  const product = ({ product_id: id }: ProjectView) =>
    id === null ? null : markup`<a href="${call.link(`/products/${id}`)}">${userText(products?.get(id) ?? id)}</a>`;
  return arrangedList<ProjectView>(
    {
      caption: "Projects",
      columns: [
        {
          name: "name",
          label: "Name",
          kind: "text",
          by: ({ name }) => name,
          cell: ({ id, name, provider }) =>
            markup`<a href="${call.link(`/projects/${id}`)}">${userText(name)}</a>${provider === "sample" ? markup` ${sampleBadge}` : null}`,
        },
        {
          name: "open",
          label: "Open vulnerabilities",
          kind: "badge",
          cell: (project) => severityCounts(project.vulnerability_counts, isVerdict(project)),
          by: (project) => (isVerdict(project) ? severityRank(project.vulnerability_counts) : null),
          largestFirst: true,
        },
        { name: "scan", label: "Scan", kind: "badge", cell: scanBadge, by: (row) => row.scan_status },
        {
          name: "scanned",
          label: "Last scan",
          kind: "time",
          cell: ({ last_scanned_at: at }) => time(at),
          by: ({ last_scanned_at: at }) => at,
        },
        ...(products === null
          ? []
          : [
              {
                name: "product",
                label: "Product",
                kind: "text" as const,
                cell: product,
                by: ({ product_id: id }: ProjectView) => (id === null ? null : (products.get(id) ?? id)),
              },
            ]),
      ],
      rows: found.slice(0, pageRows),
      empty,
      isWhole: skippedRows(call) === 0 && found.length <= pageRows,
      order: "in order of names",
    },
    call,
  );
}

async function render(call: PageCall): Promise<PageContent> {
  const text = (call.query.get("text") ?? "").trim();
  const filters = text === "" ? {} : { text };
  const { data } = await call.control(projectEndpoints.list, { ...filters, ...rowsInput(call) });
  const create =
    call.workspace.role === "auditor" ? null : markup`<a class="button" href="${call.link("/projects/new")}">Add a project</a>`;
  const products = data.some(({ product_id: product }) => product !== null)
    ? await productNames(call)
    : new Map<string, string>();
  const list = projectList(data, { call, products, empty: nothing(call, { text, create }) });
  return {
    title: "Projects",
    lead: "A project is an application or a repository, with the SBOM that says what it is made of. Each new SBOM is scanned against all known advisories.",
    actions: markup`${list.view}<a class="button quiet" href="${call.link("/components")}">Find a component</a>${create}`,
    main: markup`${data.length === 0 && text === "" ? null : filterForm({ path: call.path, filters: [{ name: "text", label: "Name", kind: "text", value: text }], kept: list.kept })}
      ${create === null ? markup`<p class="hint">Auditors are read-only: they upload no SBOM.</p>` : null}
      ${data.length === 0 ? await firstStartNotice(call) : await blindNotice(call)}
      ${list.table}
      ${data.length === 0 ? null : rowsLinks(call, { found: data.length, what: "Projects", filters: { ...filters, ...list.kept } })}`,
  };
}

function nothing(call: PageCall, { text, create }: { text: string; create: Html | null }): Html {
  if (text !== "")
    return emptyState(`No project has “${text}” in its name.`, markup`<a class="button quiet" href="${call.path}">Show all</a>`);
  return emptyState("No projects yet. Upload an SBOM to see its vulnerabilities.", create);
}

/** Of projects of the sample data. */
export const sampleBadge = badge("neutral", "sample");

// The state of a project's scan in a word.

export function scanBadge({
  scan_status: status,
  scan_queue_position: before,
  components_not_compared: left,
}: Pick<ProjectView, "scan_status" | "scan_queue_position" | "components_not_compared">): Html {
  if (status === "not_comparable") return badge("warn", "not comparable");
  if (status === "completed") {
    const words = `${left.toLocaleString("en-US")} ${left === 1 ? "component" : "components"} not compared`;
    return left === 0 ? badge("good", "scanned") : markup`${badge("good", "scanned")} <span class="under">${words}</span>`;
  }
  if (status === "failed") return badge("bad", "failed");
  if (status === "never") return badge("neutral", "not scanned");
  if (status === "scanning") return badge("neutral", "being scanned");
  const queue = before === null || before === 0 ? null : markup` <span class="under">behind ${before}</span>`;
  return markup`${badge("neutral", "waits")}${queue}`;
}

/** Whether a project without vulnerabilities has none: it was scanned, and there were advisories to compare it with. */
export function isVerdict({
  scan_status: status,
  last_scanned_at: at,
}: Pick<ProjectView, "scan_status" | "last_scanned_at">): boolean {
  return at !== null && status !== "not_comparable";
}

// The products of a workspace, for a choice in a form and for their names in a list.

/** The names of the first products, in order of names; others are shown by their id. */
export async function productNames(call: PageCall): Promise<ReadonlyMap<string, string>> {
  const { data } = await call.control(productEndpoints.list, { limit: String(listRowsMax) });
  return new Map(data.map(({ id, name }) => [id, name]));
}

/** A choice, or a text field if the choice would be too long. */
export function productField(names: ReadonlyMap<string, string>): Field {
  const shared = { name: "product", label: "Product" };
  if (names.size >= listRowsMax)
    return { ...shared, kind: "text", hint: "The id or exact name of a product. If empty: none.", charactersMax: 200 };
  const choices = [{ value: "", label: "None" }, ...Array.from(names, ([id, name]) => ({ value: id, label: name }))];
  return { ...shared, kind: "choice", choices };
}
