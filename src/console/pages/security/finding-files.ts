/**
 * The findings of a list as files: CSV and SARIF with the rows of its filters, up to a bound, and the VEX document of one project. The menu
 * offers a VEX document only where the list is of one project, since the document is about one product.
 */
import { findingEndpoints, vexEndpoints } from "../../../control-api/endpoints/findings.ts";
import { projectEndpoints } from "../../../control-api/endpoints/projects.ts";
import { DomainError } from "../../../accounts/errors.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { listRowsMax } from "../../../http/limits.ts";
import type { SearchedFinding } from "../../../security/findings/lists/exploits.ts";
import { sarifOf } from "../../../security/findings/details/sarif.ts";
import { findingCsvRowsMax } from "../../limits.ts";
import { address } from "../../look/forms.ts";
import { vexFormats, type VexFormat } from "../../../security/findings/vex/export-vex.ts";
import type { PageCall, PageFile } from "../../page.ts";
import { listQuery, searchInput, type FindingPlace } from "./finding-list.ts";

/** Links to the files of what the list shows. */
export function exportMenu({ call, project }: FindingPlace): Html {
  const path = (as: string): string => address(call.path, { ...listQuery(call.query), as });
  const isOfOne = project !== null || call.query.has("project");
  const vex = isOfOne
    ? vexFormats.map(
        (format) => markup`<a href="${path(vexFiles[format].as)}">VEX <span class="under">${vexFiles[format].is}</span></a>`,
      )
    : markup`<p class="under">VEX: filter by one project first</p>`;
  return markup`<details class="exports">
    <summary class="button quiet">Export</summary>
    <div><a href="${path("csv")}">CSV <span class="under">the first ${findingCsvRowsMax.toLocaleString("en-US")}</span></a><a href="${path("sarif")}">SARIF <span class="under">for code scanning</span></a>${vex}</div>
  </details>`;
}

export async function findingCsv(place: FindingPlace): Promise<CsvFile> {
  const rows = await listedFindings(place);
  return {
    name: "findings",
    columns: csvColumns.map(([name]) => name),
    rows: rows.map((row) => csvColumns.map(([, read]) => read(row))),
  };
}

/** Says, like the command line, what was not compared. */
async function findingSarif(place: FindingPlace): Promise<PageFile> {
  const { project, product } = searchInput(place);
  const scope = { ...(project !== undefined && { project }), ...(product !== undefined && { product }) };
  const { scanned, not_comparable: blind } = await place.call.control(projectEndpoints.countScans, scope);
  const left =
    blind === 0
      ? []
      : [`${blind} of ${scanned} scanned projects cannot be compared: there are no advisories for their components`];
  const notes = { isComplete: blind === 0 || blind < scanned, left };
  return { name: "findings.sarif", document: sarifOf(await listedFindings(place), ({ project: name }) => name, notes) };
}

/** @throws DomainError invalid_field where the list is of several projects */
async function findingVex({ call, project }: FindingPlace, format: VexFormat): Promise<PageFile> {
  const named = project ?? call.query.get("project") ?? "";
  if (named === "")
    throw new DomainError("invalid_field", "A VEX document is of one project: filter by it", { field: "project" });
  return { name: vexFiles[format].name, document: await call.control(vexEndpoints.export, { project: named, format }) };
}

const vexFiles: Record<VexFormat, { as: string; is: string; name: string }> = {
  cyclonedx: { as: "vex", is: "decisions, CycloneDX", name: "vex.cdx.json" },
  openvex: { as: "openvex", is: "decisions, OpenVEX", name: "vex.openvex.json" },
  csaf: { as: "csaf", is: "decisions, CSAF", name: "vex.csaf.json" },
};

/** The files of a list besides its rows as CSV. */
export function findingFiles(placeOf: (call: PageCall) => FindingPlace): Record<string, (call: PageCall) => Promise<PageFile>> {
  const vex = vexFormats.map((format) => [vexFiles[format].as, (call: PageCall) => findingVex(placeOf(call), format)] as const);
  return { sarif: (call) => findingSarif(placeOf(call)), ...Object.fromEntries(vex) };
}

/** A search that matches few rows stops after this many pages. */
const pagesMax = 2 * (findingCsvRowsMax / listRowsMax);

async function listedFindings(place: FindingPlace): Promise<SearchedFinding[]> {
  const { call } = place;
  const input = searchInput(place);
  const rows: SearchedFinding[] = [];
  let after = call.query.get("after");
  for (let pages = 0; pages < pagesMax && rows.length < findingCsvRowsMax; pages++) {
    const limit = String(Math.min(listRowsMax, findingCsvRowsMax - rows.length));
    const page = await call.control(findingEndpoints.search, { ...input, limit, ...(after !== null && { after }) });
    rows.push(...page.data);
    after = page.next;
    if (after === null) break;
  }
  return rows;
}

const csvColumns: [string, (row: SearchedFinding) => string | number | null][] = [
  ["id", (row) => row.id],
  ["vulnerability", (row) => row.cve_id],
  ["severity", (row) => row.severity],
  ["cvss_score", (row) => row.cvss_score],
  ["severity_basis", (row) => row.severity_basis],
  ["epss", (row) => row.epss],
  ["known_exploited_since", (row) => row.known_exploited_since],
  ["status", (row) => row.status],
  ["false_positive", (row) => String(row.false_positive)],
  ["justification", (row) => row.justification],
  ["accepted_until", (row) => row.accepted_until],
  ["owner", (row) => row.owner],
  ["component", (row) => row.component],
  ["version", (row) => row.component_version],
  ["ecosystem", (row) => row.ecosystem],
  ["fix_version", (row) => row.fix_version],
  ["project", (row) => row.project],
  ["project_id", (row) => row.project_id],
  ["first_seen", (row) => row.first_seen],
  ["last_seen", (row) => row.last_seen],
];
