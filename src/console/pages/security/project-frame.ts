/**
 * The frame of a project's pages: its name, the state of its scan, what it was compared with, and its tabs, each with its own address. It
 * says "nothing found" only if a scan had something to compare. While a scan is under way, a script asks for its state and loads the page
 * again once it has ended; without a script, the page says so.
 */
import { projectEndpoints, projectPartEndpoints } from "../../../control-api/endpoints/projects.ts";
import { markup, type Html } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import { blindness, gaps } from "../../../security/projects/coverage.ts";
import type { ProjectDetailsView } from "../../../security/projects/schema.ts";
import { notice, tabs, time, userText } from "../../look/parts.ts";
import type { Page, PageCall, PageContent, PageFile } from "../../page.ts";
import { mayDecide } from "./finding-list.ts";
import { agoText, remedy } from "./knowledge.ts";
import { productNames, sampleBadge, scanBadge } from "./projects-page.ts";
import { ecosystemName } from "./words.ts";

/** What all tabs share as pages. */
export const projectTab = {
  of: "workspace",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [asset("script", [new URL("project.js", import.meta.url)])],
  files: { scan: scanState },
} as const satisfies Partial<Page>;

/** The path of a tab below the project's. */
type TabPath = "" | "/components" | "/fixes" | "/sboms" | "/activity";

const labels: readonly (readonly [TabPath, string])[] = [
  ["", "Findings"],
  ["/components", "Components"],
  ["/fixes", "Fix plan"],
  ["/sboms", "SBOMs"],
  ["/activity", "Activity"],
];

export function projectId({ params }: PageCall): string {
  return params["id"] ?? "";
}

export function projectPath(call: PageCall, tab: TabPath | "/move" | "/vex" = ""): string {
  return call.link(`/projects/${encodeURIComponent(projectId(call))}${tab}`);
}

interface Tab {
  path: TabPath;
  actions?: Html | null;
  body: (project: ProjectDetailsView) => Promise<Html>;
}

/** @throws DomainError not_found */
export async function projectContent(call: PageCall, { path, actions = null, body }: Tab): Promise<PageContent> {
  const project = await call.control(projectEndpoints.show, { id: projectId(call) });
  const views = labels.map(([tab, label]) => ({
    path: projectPath(call, tab),
    label,
    count: tab === "/components" ? project.metrics.components : null,
    current: tab === path,
  }));
  const upload =
    project.provider === "sample"
      ? null
      : markup`<a class="button quiet" href="${projectPath(call, "/sboms")}#upload-title">Upload an SBOM</a>`;
  const change = mayDecide(call)
    ? markup`<a class="button quiet" href="${projectPath(call, "/move")}">Change product</a>${upload}`
    : null;
  return {
    title: project.name,
    trail: [{ path: call.link("/projects"), label: "Projects" }],
    badge: markup`${project.provider === "sample" ? markup`${sampleBadge} ` : null}${scanBadge(project)}`,
    lead: await summary(project, call),
    actions: markup`${actions}${change}`,
    main: markup`${states(project, call)}${tabs("Parts of the project", views)}${await body(project)}`,
  };
}

/** One line: the product, the last scan, the age of the advisories, and where it comes from. */
async function summary(project: ProjectDetailsView, call: PageCall): Promise<Html> {
  const { product_id: product, last_scanned_at: scanned, repository } = project;
  const name = product === null ? null : ((await productNames(call)).get(product) ?? product);
  const parts = [
    ...(product === null
      ? []
      : [markup`Product <a href="${call.link(`/products/${product}`)}">${userText(name ?? product)}</a>`]),
    markup`Last scan ${time(scanned)}`,
    ...advisoryAges(project, call),
    ...(repository === null ? [] : [userText(repository)]),
  ];
  return markup`${parts.map((part, index) => (index === 0 ? part : markup` · ${part}`))}`;
}

/** How old the advisories of each ecosystem of the components are. */
function advisoryAges({ metrics: { coverage } }: ProjectDetailsView, { nowMs }: PageCall): Html[] {
  return coverage.map(({ ecosystem, advisories_updated_at: at }) => {
    if (ecosystem === null) return markup`unknown ecosystem: no advisories`;
    const name = ecosystemName(ecosystem) ?? ecosystem;
    return markup`${name} advisories: ${at === null ? "none" : agoText(at, nowMs)}`;
  });
}

function states(project: ProjectDetailsView, call: PageCall): Html | null {
  const { scan_failure: failure, findings_left_out: left, scan_status: status } = project;
  if (failure !== null) return notice({ tone: "bad", words: `The last scan failed: ${failure}. It is retried automatically.` });
  if (status === "pending" || status === "scanning")
    return markup`<p class="notice neutral" role="status" data-scan="${status}">A scan is under way: load this page again to see what it finds.</p>`;
  const blind = blindness(project);
  if (blind !== null)
    return markup`${notice({ tone: "warn", words: markup`${blind}. ${project.metrics.components === 0 ? null : remedy(call)}` })}${notWatched(project, call)}`;
  const cut = left === 0 ? [] : [`${left.toLocaleString("en-US")} findings are left out: a project has too many of them`];
  const gapNotices = [...cut, ...gaps(project)].map((words) => notice({ tone: "warn", words: `${words}.` }));
  return markup`${gapNotices}${notWatched(project, call)}`;
}

/** Of a repository: its SBOM is made of what was read, so that its warnings are of what was not. */
function notWatched({ provider, sbom }: ProjectDetailsView, call: PageCall): Html | null {
  if (provider === "upload" || provider === "sample" || sbom === null || sbom.warnings.length === 0) return null;
  const link = markup`<a href="${projectPath(call, "/sboms")}#warnings-title">the warnings of its SBOM</a>`;
  return notice({ tone: "warn", words: markup`Some packages or lock files are not watched: ${link} name them.` });
}

/** For the script that waits for the end of a scan. */
async function scanState(call: PageCall): Promise<PageFile> {
  const { scan_status: status } = await call.control(projectPartEndpoints.state, { id: projectId(call) });
  return { name: "scan.json", document: { scan_status: status } };
}
