/** One call of each operation of the tools API that succeeds, by its name. */
import { bomJson } from "./sbom-documents.ts";

/** @param of a finding of the workspace, and the project that has it */
export function toolsInputs(of: { finding_id: unknown; project_id: unknown }): Record<string, Record<string, unknown>> {
  const { finding_id, project_id } = of;
  return {
    list_projects: {},
    get_project: { project_id },
    create_product: { name: "of tools" },
    list_products: { limit: 1 },
    list_components: { name: "left" },
    update_project: { project_id, product_id: null },
    upload_sbom: { project: "of tools", sbom: bomJson("1.6") },
    import_repository: { url: "https://github.com/acme/app" },
    get_active_scope: {},
    set_active_scope: { kind: "workspace" },
    list_vulnerabilities: { severity: "high", ecosystem: "npm" },
    get_vulnerability: { cve_id: "CVE-2026-0001" },
    list_findings: { project_id },
    update_finding: { finding_id, status: "in_progress", note: "As told" },
    list_finding_events: { finding_id },
    get_remediation: { project_id },
    submit_feedback: { message: "As described" },
    report_bug: { expected_behavior: "As described", actual_behavior: "Otherwise" },
    create_support_request: { subject: "Words", message: "As described" },
    list_my_tickets: { limit: 2, offset: 1 },
  };
}
