/** One product: its grade, and its projects. */
import { markup } from "../../../http/html.ts";
import type { ProductView } from "../../../security/projects/product-schema.ts";
import type { ProjectView } from "../../../security/projects/schema.ts";
import { address } from "../../look/forms/address.ts";
import { emptyState } from "../../look/states.ts";
import { facts } from "../../look/facts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { projectTable } from "../projects/projects-page.ts";
import { pageRows, rowsInput, rowsLinks } from "../security/rows-query.ts";
import { section } from "../security/section.ts";
import { severityCounts } from "../security/severity.ts";
import { gradeBadge } from "./products-page.ts";

export const productPage: Page = {
  of: "workspace",
  path: "/products/:id",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const product = await call.control<ProductView>("GET", `/products/${encodeURIComponent(call.params["id"] ?? "")}`);
  const { data } = await call.control<{ data: ProjectView[] }>("GET", "/projects", { product: product.id, ...rowsInput(call) });
  const findings = address(call.link("/findings"), { product: product.id });
  const add = markup`<a class="button" href="${call.link("/projects")}">See the projects</a>`;
  const empty = emptyState("No project is in it yet. A project is moved into a product on its own page.", add);
  return {
    title: product.name,
    trail: [{ path: call.link("/products"), label: "Products" }],
    badge: gradeBadge(product),
    main: markup`${facts([
      ["Open vulnerabilities", severityCounts(product.vulnerability_counts, product.posture !== null)],
      ["Findings", markup`<a href="${findings}">What is open in it</a>`],
      ["Projects", product.projects_count],
      ["SBOMs, with former ones", product.sboms_count],
      [
        "Grade",
        `${product.posture ?? "None, since no project was scanned yet, or one of them cannot be compared with advisories"}. It is that of the most severe open vulnerability: F critical, D high, C medium, B low or not rated, A none.`,
      ],
      ["Id", markup`<code>${product.id}</code>`],
    ])}
    ${section("projects", "Projects", projectTable(data.slice(0, pageRows), { call, products: null, empty }))}
    ${data.length === 0 ? null : rowsLinks(call, { found: data.length, what: "Projects" })}`,
  };
}
