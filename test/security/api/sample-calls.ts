/** One call of every operation, for what is the same through every door. */
import { about } from "../../support/security/advisory-store.ts";
import { bomJson } from "../../support/security/sbom-documents.ts";

/** What is uploaded before, and scanned. */
export const uploaded = { project: "doors", sbom: bomJson("1.6") };
/** Its project; the id is filled in then. */
export const ofProject = { project_id: "" };
export const moved = { project_id: "", product_id: null };
/** About a component of it, imported later: the scan that follows finds it. */
export const imported = { records: [about("CVE-2026-0001", { name: "@scope/left" })] };
/** What it finds; the id is filled in then. */
export const ofFinding = { finding_id: "" };
export const decided = { finding_id: "", status: "in_progress", note: "Somebody is at it" };

/** A call of each operation that gives the same whenever it is made. */
export const calls: Record<string, Record<string, unknown>> = {
  list_projects: {},
  get_project: ofProject,
  list_products: {},
  upload_sbom: uploaded,
  import_repository: { url: "https://github.com/acme/app" },
  update_project: moved,
  get_active_scope: {},
  set_active_scope: { kind: "workspace" },
  submit_feedback: { message: "Every door is the same" },
  report_bug: { expected_behavior: "One answer", actual_behavior: "Three" },
  create_support_request: { subject: "Doors", message: "Which one?" },
  list_my_tickets: { limit: 2, offset: 1 },
  list_vulnerabilities: { severity: "high", ecosystem: "npm" },
  get_vulnerability: { cve_id: "CVE-2026-0001" },
  list_findings: { limit: 3 },
  update_finding: decided,
  list_finding_events: ofFinding,
  get_remediation: ofFinding,
};

/** Texts of calls that make something new: each call adds to them, so that none stands twice. */
export const making: Record<string, Record<string, string>> = {
  create_product: { name: "Doors" },
};
