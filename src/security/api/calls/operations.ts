/** All operations of the tools API: routes, MCP tools and the documents are made from this list. A new one is a line here. */
import type { Operation } from "../operations/operation.ts";
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

export const operations: readonly Operation[] = [
  listProjects,
  getProject,
  listProducts,
  uploadSbom,
  importRepository,
  createProduct,
  updateProject,
  getActiveScope,
  setActiveScope,
  listVulnerabilities,
  getVulnerability,
  listFindings,
  updateFinding,
  listFindingEvents,
  getRemediation,
  submitFeedback,
  reportBug,
  createSupportRequest,
  listMyTickets,
];

/** What callers call it: `platform_submit_feedback`. @param slug the service's own name */
export function fullName(slug: string, { name }: Operation): string {
  return `${slug}_${name}`;
}
