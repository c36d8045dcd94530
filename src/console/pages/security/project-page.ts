/**
 * One project: the list of its findings as the first tab, its files, and the page that changes its product. An empty list says what it
 * means: little, if little was compared.
 */
import { projectEndpoints } from "../../../control-api/endpoints/projects.ts";
import { markup, type Html } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import type { ProjectDetailsView } from "../../../security/projects/schema.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { form } from "../../look/forms.ts";
import { exportMenu, findingCsv, findingFiles } from "./finding-files.ts";
import { findingList, mayDecide, triageListed, type FindingPlace } from "./finding-list.ts";
import { projectContent, projectId, projectPath, projectTab } from "./project-frame.ts";
import { productField, productNames } from "./projects-page.ts";

const here = (call: PageCall): FindingPlace => ({ call, project: projectId(call) });

export const projectPage: Page = {
  ...projectTab,
  path: "/projects/:id",
  scripts: [...projectTab.scripts, asset("script", [new URL("findings.js", import.meta.url)])],
  render,
  actions: { triage: triageListed },
  csv: (call) => findingCsv(here(call)),
  files: {
    ...projectTab.files,
    ...findingFiles(here),
  },
};

function render(call: PageCall): Promise<PageContent> {
  return projectContent(call, {
    path: "",
    actions: markup`${exportMenu(here(call))}${importLink(call)}`,
    body: (project) => findingList({ ...here(call), empty: nothingOpen(project), isBlind: isBlind(project) }),
  });
}

function importLink(call: PageCall): Html | null {
  return mayDecide(call) ? markup`<a class="button quiet" href="${projectPath(call, "/vex")}">Import VEX</a>` : null;
}

/** Nothing was compared, so that zeros would be no verdict. */
function isBlind({ scan_status: status, vulnerabilities }: ProjectDetailsView): boolean {
  return status === "not_comparable" && vulnerabilities.total === 0;
}

function nothingOpen(project: ProjectDetailsView): string {
  if (project.last_scanned_at === null) return "It has not been scanned yet.";
  if (project.scan_status === "not_comparable") return "Nothing was compared, so whether it has vulnerabilities is not known.";
  return project.components_not_compared === 0
    ? "Nothing is open: no component has a known vulnerability that is still open."
    : "Nothing is open among the components that were compared.";
}

// The product of a project, on a page of its own.

export const moveProjectPage: Page = {
  of: "workspace",
  path: "/projects/:id/move",
  navigation: null,
  roles: ["member", "admin", "super_admin"],
  render: renderMove,
  actions: { move },
};

async function renderMove(call: PageCall): Promise<PageContent> {
  const project = await call.control(projectEndpoints.show, { id: projectId(call) });
  const products = await productNames(call);
  const body =
    products.size === 0
      ? markup`<p>There is no product yet. <a href="${call.link("/products")}">Create one</a> to group projects.</p>`
      : form({
          id: "move",
          action: call.path,
          hidden: hiddenFields(call, "move"),
          fields: [productField(products)],
          state: formState(call, { action: "move", values: { product: project.product_id ?? "" } }),
          submit: "Save",
          cancelPath: projectPath(call),
        });
  return {
    title: "Change product",
    trail: [
      { path: call.link("/projects"), label: "Projects" },
      { path: projectPath(call), label: project.name },
    ],
    main: body,
  };
}

async function move(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const product = typed.text("product");
  const { name } = await call.control(projectEndpoints.move, { id: projectId(call), product: product === "" ? null : product });
  const said = product === "" ? `“${name}” is in no product.` : `“${name}” is in that product now, with its findings.`;
  return { goTo: projectPath(call), said };
}
