/** All operations of the tools API by the specification's names. Routes, MCP tools and the OpenAPI document are made from this list. */
import type { Operation, UnnamedOperation } from "../operations/operation.ts";
import { getRemediation } from "../../findings/remediation/get-remediation.ts";
import { listFindingEvents } from "../../findings/triage/list-finding-events.ts";
import { listFindings } from "../../findings/lists/list-findings.ts";
import { listVulnerabilities } from "../../findings/lists/list-vulnerabilities.ts";
import { updateFinding } from "../../findings/triage/update-finding.ts";
import { createProduct } from "../../products/create-product.ts";
import { listProducts } from "../../products/list-products.ts";
import { getProject } from "../../projects/get-project.ts";
import { listProjects } from "../../projects/list-projects.ts";
import { updateProject } from "../../projects/update-project.ts";
import { uploadSbom } from "../../projects/upload-sbom.ts";
import { importRepository } from "../../repositories/import-repository.ts";
import { getActiveScope } from "../../scopes/get-active-scope.ts";
import { setActiveScope } from "../../scopes/set-active-scope.ts";
import { createSupportRequest } from "../../tickets/create-support-request.ts";
import { listMyTickets } from "../../tickets/list-my-tickets.ts";
import { reportBug } from "../../tickets/report-bug.ts";
import { submitFeedback } from "../../tickets/submit-feedback.ts";
import { getVulnerability } from "../../vulnerabilities/get-vulnerability.ts";

const named: Record<string, UnnamedOperation> = {
  list_projects: listProjects,
  get_project: getProject,
  list_products: listProducts,
  upload_sbom: uploadSbom,
  import_repository: importRepository,
  create_product: createProduct,
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

/** In the order of the lists that clients see. */
export const operations: readonly Operation[] = Object.entries(named).map(([name, unnamed]) => ({ name, ...unnamed }));

/** The name that callers use, such as `platform_submit_feedback`. @param slug the service's name */
export function fullName(slug: string, { name }: Operation): string {
  return `${slug}_${name}`;
}
