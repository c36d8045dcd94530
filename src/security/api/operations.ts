/**
 * All operations of the tools API by the specification's names, and the API's paths and headers. Routes, MCP tools and the OpenAPI document
 * are derived from this list, in the order that clients see.
 */
import { getRemediation } from "../findings/details/get-remediation.ts";
import { listFindings } from "../findings/lists/list-findings.ts";
import { listVulnerabilities } from "../findings/lists/list-vulnerabilities.ts";
import { listFindingEvents } from "../findings/triage/list-events.ts";
import { updateFinding } from "../findings/triage/update-finding.ts";
import type { Operation, UnnamedOperation } from "../operation.ts";
import { getActiveScope, setActiveScope } from "../projects/active-scope.ts";
import { componentSearch } from "../projects/component-search.ts";
import { createProductOperation, listProducts } from "../projects/products.ts";
import { getProject, listProjects, updateProject } from "../projects/projects.ts";
import { uploadSbom } from "../projects/store-sbom.ts";
import { importRepository } from "../repositories/import-repository.ts";
import { createSupportRequest, listMyTickets, reportBug, submitFeedback } from "../tickets/tickets.ts";
import { getVulnerability } from "../vulnerabilities/show.ts";

const named: Record<string, UnnamedOperation> = {
  list_projects: listProjects,
  get_project: getProject,
  list_products: listProducts,
  list_components: componentSearch,
  upload_sbom: uploadSbom,
  import_repository: importRepository,
  create_product: createProductOperation,
  update_project: updateProject,
  get_active_scope: getActiveScope,
  set_active_scope: setActiveScope,
  list_vulnerabilities: listVulnerabilities,
  get_vulnerability: getVulnerability,
  list_findings: listFindings,
  update_finding: updateFinding,
  list_finding_events: listFindingEvents,
  get_remediation: getRemediation,
  submit_feedback: submitFeedback,
  report_bug: reportBug,
  create_support_request: createSupportRequest,
  list_my_tickets: listMyTickets,
};

/** In the order of clients' lists. */
export const operations: readonly Operation[] = Object.entries(named).map(([name, unnamed]) => ({ name, ...unnamed }));

/** The name that callers use, such as `platform_submit_feedback`. @param slug the service's name */
export function fullName(slug: string, { name }: Operation): string {
  return `${slug}_${name}`;
}

export const toolsPrefix = "/api/tools";
export const mcpPath = "/mcp";
/** The path that receives a file before its ticket. */
export const attachmentsPath = "/api/tools-attachments";
/** The file's name, percent-encoded. */
export const attachmentNameHeader = "x-attachment-name";
/** A call's header with the id of a file that was sent before. */
export const attachmentHeader = "x-attachment";
