/**
 * One project: its SBOM and scan, its worst findings, the components that no advisory could be compared with, and the forms that change it.
 * It says "nothing found" only if a scan had something to compare.
 */
import { findingEndpoints } from "../../../control-api/endpoints/findings.ts";
import { projectEndpoints } from "../../../control-api/endpoints/projects.ts";
import { sbomUploadMs } from "../../../control-api/limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FindingRow } from "../../../security/findings/lists/list-rows.ts";
import type { FindingPage } from "../../../security/findings/lists/search-findings.ts";
import { blindness, gaps } from "../../../security/projects/coverage.ts";
import type { ProjectDetailsView } from "../../../security/projects/schema.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { address, form } from "../../look/forms.ts";
import { facts, emptyState, notice, tiles, section, table, time, userText } from "../../look/parts.ts";
import { statusBadge } from "./triage.ts";
import { sbomField, uploadBytesMax, uploadedWords, uploadSbom } from "./new-project.ts";
import { agoText, remedy } from "./knowledge.ts";
import { productField, productNames, isVerdict, scanBadge } from "./projects-page.ts";
import { ecosystemName, severityBadge, severityCounts } from "./words.ts";

export const projectPage: Page = {
  of: "workspace",
  path: "/projects/:id",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  formBytesMax: uploadBytesMax,
  deadlineMs: sbomUploadMs,
  render,
  actions: { upload, move },
};

const findingsShown = "10";
const pathOf = ({ params }: PageCall): string => `/projects/${encodeURIComponent(params["id"] ?? "")}`;

async function render(call: PageCall): Promise<PageContent> {
  const project = await call.control(projectEndpoints.show, { id: call.params["id"] ?? "" });
  const worst = await call.control(findingEndpoints.search, {
    project: project.id,
    status: "live",
    limit: findingsShown,
  });
  const products = await productNames(call);
  const mayChange = call.workspace.role !== "auditor";
  return {
    title: project.name,
    trail: [{ path: call.link("/projects"), label: "Projects" }],
    badge: scanBadge(project),
    main: markup`${states(project, call)}${numbers(project, call)}
      ${projectFacts(project, { call, products })}
      ${section("findings", "Worst findings", worstFindings(worst, { project, call }))}
      ${project.unknown_matches.total === 0 ? null : section("unknown", "What cannot be compared", unknownMatches(project))}
      ${mayChange ? section("upload", "Upload a new SBOM", uploadForm(call)) : null}
      ${mayChange ? section("move", "Product", moveForm({ project, products, call })) : markup`<p class="hint">Auditors are read-only: they change no project.</p>`}`,
  };
}

function states(project: ProjectDetailsView, call: PageCall): Html | null {
  const { scan_failure: failure, findings_left_out: left, scan_status: status } = project;
  if (failure !== null) return notice({ tone: "bad", words: `The last scan failed: ${failure}. It is retried automatically.` });
  if (status === "pending" || status === "scanning")
    return notice({ tone: "neutral", words: "A scan is under way: load this page again to see what it finds." });
  const blind = blindness(project);
  if (blind !== null)
    return notice({ tone: "warn", words: markup`${blind}. ${project.metrics.components === 0 ? null : remedy(call)}` });
  const cut = left === 0 ? [] : [`${left.toLocaleString("en-US")} findings are left out: a project has too many of them`];
  return markup`${[...cut, ...gaps(project)].map((words) => notice({ tone: "warn", words: `${words}.` }))}`;
}

function numbers({ id, metrics, vulnerabilities, scan_status: status }: ProjectDetailsView, call: PageCall): Html {
  const isBlind = status === "not_comparable" && vulnerabilities.total === 0;
  const findings = (query: Record<string, string>) => address(call.link("/findings"), { project: id, ...query });
  return tiles([
    {
      label: "Components",
      value: metrics.components,
      note: isBlind ? "not compared" : `${metrics.vulnerable_components} vulnerable`,
    },
    isBlind
      ? { label: "Vulnerabilities", value: "unknown", note: "no advisories" }
      : { label: "Vulnerabilities", value: vulnerabilities.total, note: "open or in progress" },
    {
      label: "Open findings",
      value: metrics.findings_open,
      note: `${metrics.findings_in_progress} in progress`,
      path: findings({ status: "open" }),
    },
    { label: "With a fix", value: metrics.fixable, path: findings({ fixable: "true" }) },
  ]);
}

function projectFacts(
  project: ProjectDetailsView,
  { call, products }: { call: PageCall; products: ReadonlyMap<string, string> },
): Html {
  const { product_id: product, sbom, repository } = project;
  return facts([
    ["Open vulnerabilities", severityCounts(project.vulnerability_counts, isVerdict(project))],
    [
      "Product",
      product === null
        ? null
        : markup`<a href="${call.link(`/products/${product}`)}">${userText(products.get(product) ?? product)}</a>`,
    ],
    [
      "SBOM",
      sbom === null
        ? null
        : markup`${sbom.format} ${sbom.spec_version}${sbom.filename === null ? null : markup`, ${userText(sbom.filename)}`}, uploaded ${time(sbom.uploaded_at)}`,
    ],
    ["Last scan", time(project.last_scanned_at)],
    ["Advisories", advisoryAges(project, call)],
    ["Repository", repository],
    ["Created", time(project.created_at)],
    ["Id", markup`<code>${project.id}</code>`],
  ]);
}

/** How old the advisories of each ecosystem of the components are. */
function advisoryAges({ metrics: { coverage } }: ProjectDetailsView, { nowMs }: PageCall): Html | null {
  if (coverage.length === 0) return null;
  const words = coverage.map(({ ecosystem, advisories_updated_at: at }) => {
    if (ecosystem === null) return "no known ecosystem: none";
    return `${ecosystemName(ecosystem) ?? ecosystem}: ${at === null ? "none" : `of ${agoText(at, nowMs)}`}`;
  });
  return markup`${words.join(" · ")}`;
}

/** Why no finding is listed: an empty list means little if little was compared. */
function nothingOpen(project: ProjectDetailsView): string {
  if (project.last_scanned_at === null) return "It has not been scanned yet.";
  if (project.scan_status === "not_comparable") return "Nothing was compared, so whether it has vulnerabilities is not known.";
  return project.components_not_compared === 0
    ? "Nothing is open: no component has a known vulnerability that is still open."
    : "Nothing is open among the components that were compared.";
}

function worstFindings({ data, total }: FindingPage, { project, call }: { project: ProjectDetailsView; call: PageCall }): Html {
  const all = address(call.link("/findings"), { project: project.id });
  return markup`${table<FindingRow>({
    caption: "Worst findings",
    columns: [
      {
        label: "Vulnerability",
        kind: "text",
        cell: ({ id, cve_id: name }) => markup`<a href="${call.link(`/findings/${id}`)}">${userText(name)}</a>`,
      },
      { label: "Severity", kind: "badge", cell: ({ severity, cvss_score: score }) => severityBadge(severity, score) },
      { label: "Component", kind: "text", cell: ({ component, component_version: version }) => `${component} ${version}`.trim() },
      { label: "Fixed in", kind: "text", cell: ({ fix_version: fix }) => fix },
      { label: "Status", kind: "badge", cell: statusBadge },
    ],
    rows: data,
    empty: emptyState(nothingOpen(project), null),
  })}${total !== null && total > data.length ? markup`<p><a href="${all}">All ${total.toLocaleString("en-US")} findings</a></p>` : null}`;
}

function uploadForm(call: PageCall): Html {
  return form({
    id: "upload",
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "upload"),
    fields: [sbomField],
    state: formState(call, { action: "upload" }),
    submit: "Upload",
    files: true,
  });
}

async function upload(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const { id } = await call.control(projectEndpoints.show, { id: call.params["id"] ?? "" });
  const stored = await uploadSbom(call, typed, { project: id });
  return { goTo: call.link(pathOf(call)), said: uploadedWords(stored) };
}

function moveForm({
  project,
  products,
  call,
}: {
  project: ProjectDetailsView;
  products: ReadonlyMap<string, string>;
  call: PageCall;
}): Html {
  const none = products.size === 0;
  if (none) return markup`<p>There is no product yet. <a href="${call.link("/products")}">Create one</a> to group projects.</p>`;
  return form({
    id: "move",
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "move"),
    fields: [productField(products)],
    state: formState(call, { action: "move", values: { product: project.product_id ?? "" } }),
    submit: "Save",
  });
}

async function move(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const product = typed.text("product");
  const { name } = await call.control(projectEndpoints.move, {
    id: call.params["id"] ?? "",
    product: product === "" ? null : product,
  });
  const said = product === "" ? `“${name}” is in no product.` : `“${name}” is in that product now, with its findings.`;
  return { goTo: call.link(pathOf(call)), said };
}

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
