/**
 * The products of a workspace, which group projects, and one product with its grade and its projects. A project moves between products on
 * its own page.
 */
import { nameCharactersMax } from "../../../accounts/limits.ts";
import { productEndpoints, projectEndpoints } from "../../../control-api/endpoints/projects.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { ProductView } from "../../../security/projects/product-schema.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { form, address } from "../../look/forms.ts";
import { idToCopy, thingPage } from "../../look/thing.ts";
import { badge, type Tone, dialog, opener, emptyState, section, table, userText } from "../../look/parts.ts";
import { pageRows, rowsInput, rowsLinks } from "../rows-query.ts";
import { projectList } from "./projects-page.ts";
import { severityCounts } from "./words.ts";

export const productsPage: Page = {
  of: "workspace",
  path: "/products",
  navigation: { section: "Security", label: "Products", icon: "products" },
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
  actions: { create },
};

/** For browsers without script, where the dialog cannot open. */
export const newProductPage: Page = {
  of: "workspace",
  path: "/products/new",
  navigation: null,
  roles: ["member", "admin", "super_admin"],
  async render(call) {
    const trail = [{ path: call.link("/products"), label: "Products" }];
    return { title: "Create a product", trail, main: newProductForm(call, call.link("/products/new")) };
  },
  actions: { create },
};

async function render(call: PageCall): Promise<PageContent> {
  const { data } = await call.control(productEndpoints.list, rowsInput(call));
  const mayCreate = call.workspace.role !== "auditor";
  const open = mayCreate ? opener({ dialog: "new-product", path: call.link("/products/new"), label: "Create a product" }) : null;
  const body = newProductForm(call, call.link("/products"));
  return {
    title: "Products",
    lead: "A product groups projects, so that what you deliver has one list of vulnerabilities and one grade.",
    actions: open,
    main: markup`${mayCreate ? null : markup`<p class="hint">Auditors are read-only: they create no product.</p>`}
      ${list(data.slice(0, pageRows), call, open)}
      ${data.length === 0 ? null : rowsLinks(call, { found: data.length, what: "Products" })}
      ${mayCreate ? dialog({ id: "new-product", title: "Create a product", body, asks: "changes", opensAtOnce: call.refused?.action === "create" }) : null}`,
  };
}

function list(rows: readonly ProductView[], call: PageCall, open: Html | null): Html {
  return table<ProductView>({
    caption: "Products",
    columns: [
      {
        label: "Name",
        kind: "text",
        cell: ({ id, name }) => markup`<a href="${call.link(`/products/${id}`)}">${userText(name)}</a>`,
      },
      { label: "Grade", kind: "badge", cell: gradeBadge },
      {
        label: "Open vulnerabilities",
        kind: "badge",
        cell: ({ vulnerability_counts: counts, posture }) => severityCounts(counts, posture !== null),
      },
      { label: "Projects", kind: "number", cell: ({ projects_count: projects }) => projects },
      { label: "SBOMs", kind: "number", cell: ({ sboms_count: sboms }) => sboms },
    ],
    rows,
    empty: emptyState("No products yet.", open),
  });
}

const grades: Record<"A" | "B" | "C" | "D" | "F", Tone> = { A: "good", B: "good", C: "warn", D: "bad", F: "bad" };

function gradeBadge({ posture }: Pick<ProductView, "posture">): Html {
  return posture === null ? badge("neutral", "no grade") : badge(grades[posture], posture);
}

function newProductForm(call: PageCall, action: string): Html {
  return form({
    id: "new-product",
    action,
    hidden: hiddenFields(call, "create"),
    fields: [{ kind: "text", name: "name", label: "Name", required: true, charactersMax: nameCharactersMax }],
    state: formState(call, { action: "create" }),
    submit: "Create",
    cancelPath: call.link("/products"),
  });
}

async function create(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const { id, name } = await call.control(productEndpoints.create, { name: typed.text("name") });
  return { goTo: call.link(`/products/${id}`), said: `The product “${name}” is created. Move projects into it on their pages.` };
}

// One product: its grade, and its projects.

export const productPage: Page = {
  of: "workspace",
  path: "/products/:id",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  render: renderProduct,
};

async function renderProduct(call: PageCall): Promise<PageContent> {
  const product = await call.control(productEndpoints.show, { id: call.params["id"] ?? "" });
  const { data } = await call.control(projectEndpoints.list, { product: product.id, ...rowsInput(call) });
  const findings = address(call.link("/findings"), { product: product.id });
  const add = markup`<a class="button" href="${call.link("/projects")}">See the projects</a>`;
  const empty = emptyState("No projects yet. Move a project into this product on the project's page.", add);
  const list = projectList(data, { call, products: null, empty });
  return {
    title: product.name,
    trail: [{ path: call.link("/products"), label: "Products" }],
    badge: gradeBadge(product),
    actions: list.view,
    main: thingPage({
      facts: [
        ["Open vulnerabilities", severityCounts(product.vulnerability_counts, product.posture !== null)],
        ["Findings", markup`<a href="${findings}">What is open in it</a>`],
        ["Projects", product.projects_count],
        ["SBOMs, with former ones", product.sboms_count],
        ["Id", idToCopy({ id: "product-id", value: product.id, what: "the id" })],
      ],
      note: markup`<p class="hint">${product.posture === null ? "There is no grade, since no project was scanned yet, or one of them cannot be compared with advisories." : null} The grade is that of the most severe open vulnerability: F critical, D high, C medium, B low or not rated, A none.</p>`,
      main: markup`${section("projects", "Projects", list.table)}
        ${data.length === 0 ? null : rowsLinks(call, { found: data.length, what: "Projects", filters: list.kept })}`,
    }),
  };
}
