/** The projects of a workspace with their vulnerabilities and scans. */
import { markup, type Html } from "../../../http/html.ts";
import type { ProjectView } from "../../../security/projects/schema.ts";
import { filterForm } from "../../look/forms/filter-form.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import { time } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { blindNotice, firstStartNotice } from "../security/knowledge.ts";
import { pageRows, rowsInput, rowsLinks } from "../security/rows-query.ts";
import { severityCounts } from "../security/severity.ts";
import { productNames } from "./product-choices.ts";
import { isVerdict, scanBadge } from "./scan-state.ts";

export const projectsPage: Page = {
  of: "workspace",
  path: "/projects",
  navigation: { section: "Security", label: "Projects", icon: "projects" },
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const text = (call.query.get("text") ?? "").trim();
  const filters = text === "" ? {} : { text };
  const { data } = await call.control<{ data: ProjectView[] }>("GET", "/projects", { ...filters, ...rowsInput(call) });
  const create =
    call.workspace.role === "auditor" ? null : markup`<a class="button" href="${call.link("/projects/new")}">Add a project</a>`;
  const products = data.some(({ product_id: product }) => product !== null)
    ? await productNames(call)
    : new Map<string, string>();
  return {
    title: "Projects",
    lead: "A project is an application or a repository, with the SBOM that says what it is made of. Each new SBOM is scanned against all known advisories.",
    actions: create,
    main: markup`${filterForm({ path: call.path, filters: [{ name: "text", label: "Name", kind: "text", value: text }] })}
      ${create === null ? markup`<p class="hint">Auditors are read-only: they upload no SBOM.</p>` : null}
      ${data.length === 0 ? await firstStartNotice(call) : await blindNotice(call)}
      ${projectTable(data.slice(0, pageRows), { call, products, empty: nothing(call, { text, create }) })}
      ${data.length === 0 ? null : rowsLinks(call, { found: data.length, what: "Projects", filters })}`,
  };
}

function nothing(call: PageCall, { text, create }: { text: string; create: Html | null }): Html {
  if (text !== "")
    return emptyState(`No project has “${text}” in its name.`, markup`<a class="button quiet" href="${call.path}">Show all</a>`);
  return emptyState("There is no project yet. Upload an SBOM, and its vulnerabilities appear here.", create);
}

interface Listing {
  call: PageCall;
  /** Names by id; null: all rows are of one product. */
  products: ReadonlyMap<string, string> | null;
  empty: Html;
}

export function projectTable(rows: readonly ProjectView[], { call, products, empty }: Listing): Html {
  const product = ({ product_id: id }: ProjectView) =>
    id === null ? null : markup`<a href="${call.link(`/products/${id}`)}">${userText(products?.get(id) ?? id)}</a>`;
  return table<ProjectView>({
    caption: "Projects",
    columns: [
      {
        label: "Name",
        kind: "text",
        cell: ({ id, name }) => markup`<a href="${call.link(`/projects/${id}`)}">${userText(name)}</a>`,
      },
      {
        label: "Open vulnerabilities",
        kind: "badge",
        cell: (project) => severityCounts(project.vulnerability_counts, isVerdict(project)),
      },
      { label: "Scan", kind: "badge", cell: scanBadge },
      { label: "Last scan", kind: "time", cell: ({ last_scanned_at: at }) => time(at) },
      ...(products === null ? [] : [{ label: "Product", kind: "text" as const, cell: product }]),
    ],
    rows,
    empty,
  });
}
