/** Values of the examples that no schema can know: words that a reader can follow. */

/** By the names of fields. */
export const exampleFields: Record<string, unknown> = {
  model: "sandbox/echo",
  messages: [{ role: "user", content: "Hello, weir" }],
  prompt: "Hello, weir",
  input: "Hello, weir",
  workspace: "default",
  project: "my-project",
  product: "my-product",
  name: "my-name",
  email: "someone@example.com",
  owner: "owner@localhost",
  usd: "10.00",
  ref: "invoice-1",
  since: "0",
  date: "2026-11-20",
  published_at: "2026-11-20T00:00:00Z",
  cve_id: "CVE-2021-44228",
  url: "https://github.com/owner/name",
  connector: "vouch",
  provider: "openai",
  key: "PROVIDER_KEY",
  subject: "A question",
  message: "What happened, in words",
  expected_behavior: "What should happen",
  actual_behavior: "What happens instead",
  findings: ["FINDING_ID"],
  sbom: { bomFormat: "CycloneDX", specVersion: "1.6", components: [] },
};

/** Fields that an operation needs although none of them is required by itself, by the end of its id. */
const further: [operation: string, fields: Record<string, unknown>][] = [
  ["createEmbedding", { model: "sandbox/embed" }],
  ["_update_finding", { status: "in_progress" }],
  ["_get_remediation", { project_id: "PROJECT_ID" }],
  ["postKeys", { owner: "owner@localhost" }],
  ["patchKeysId", { rate_limit_rpm: 120 }],
  ["patchWorkspacesId", { spend_limit_usd: "100.00" }],
  ["postPromptsDelete", { workspace: "default", before: "2026-01-01T00:00:00Z" }],
  ["postConnections", { method: "record_only" }],
];

export function furtherFields(operation: string): Record<string, unknown> {
  return further.find(([end]) => operation.endsWith(end))?.[1] ?? {};
}

/** The values in paths, by the noun before `{id}` or by the parameter's name. */
export const pathValues: Record<string, string> = {
  models: "sandbox/echo",
  workspaces: "default",
  members: "owner@localhost",
  accounts: "owner@localhost",
  slug: "okta",
  file: "latest.ndjson",
  part: "inference",
};

/** A message of another protocol, which no schema describes. */
export const mcpMessage = { jsonrpc: "2.0", id: 1, method: "tools/list" };
