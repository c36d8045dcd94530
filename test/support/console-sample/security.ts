/** Projects with findings, decisions about them, and tickets, as a running service makes them. */
import type { Operator } from "../operator.ts";
import { until } from "../until.ts";

export interface SampleSecurity {
  project: string;
  product: string;
  finding: string;
  /** Of a vulnerability. */
  cve: string;
  ticket: string;
}

interface Workspace {
  name: string;
  /** Owns the tools key. */
  member: string;
}

const network = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
const local = "CVSS:3.1/AV:L/AC:H/PR:L/UI:N/S:U/C:L/I:L/A:N";
const middle = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:L";

const advisories = [
  advisory("CVE-2026-10001", { name: "lodash", fixed: "4.17.21", vector: network, summary: "Command injection by a template" }),
  advisory("CVE-2026-10002", { name: "minimist", fixed: "1.2.6", vector: network, summary: "Prototype pollution by an option" }),
  advisory("CVE-2026-10003", { name: "lodash", fixed: "4.17.21", vector: middle, summary: "Slow regular expressions" }),
  advisory("CVE-2026-10004", { name: "express", fixed: "4.19.2", vector: middle, summary: "Open redirect" }),
  advisory("CVE-2026-10005", { name: "debug", fixed: null, vector: local, summary: "Text of a log is not escaped" }),
];

const exploits = {
  epss: [
    { cve: "CVE-2026-10001", epss: 0.943, percentile: 0.999 },
    { cve: "CVE-2026-10002", epss: 0.121, percentile: 0.94 },
    { cve: "CVE-2026-10003", epss: 0.0004, percentile: 0.11 },
  ],
  kev: [{ cve: "CVE-2026-10001", added: "2026-10-15" }],
};

interface Affected {
  name: string;
  fixed: string | null;
  vector: string;
  summary: string;
}

function advisory(id: string, { name, fixed, vector, summary }: Affected): Record<string, unknown> {
  const events = [{ introduced: "0" }, ...(fixed === null ? [] : [{ fixed }])];
  return {
    id,
    modified: "2026-10-01T00:00:00Z",
    published: "2026-09-01T00:00:00Z",
    summary,
    details: `### Impact\n\n${summary}: an attacker needs **no account**.\n\n### Patches\n\n- Versions before \`${fixed ?? "all later ones"}\` are affected.\n- See [the notes](https://example.com/${id}/notes).`,
    severity: [{ type: "CVSS_V3", score: vector }],
    affected: [{ package: { ecosystem: "npm", name }, ranges: [{ type: "SEMVER", events }] }],
    references: [{ type: "WEB", url: `https://example.com/${id}` }],
  };
}

/** The packages that each leads to the next one. @param type of their package URLs */
function document(name: string, packages: readonly (readonly [name: string, version: string])[], type = "npm"): Uint8Array {
  const components = packages.map(([one, version]) => ({
    type: "library",
    "bom-ref": one,
    name: one,
    version,
    purl: `pkg:${type}/${one}@${version}`,
    licenses: [{ license: { id: one === "lodash" ? "Apache-2.0" : "MIT" } }],
  }));
  const refs = ["app", ...packages.map(([one]) => one)];
  const dependencies = refs.slice(0, -1).map((ref, index) => ({ ref, dependsOn: [refs[index + 1]] }));
  const metadata = { component: { type: "application", "bom-ref": "app", name } };
  return new TextEncoder().encode(
    JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", metadata, components, dependencies }),
  );
}

export async function addSecurity(
  { name, member }: Workspace,
  { operator, url }: { operator: Operator; url: string },
): Promise<SampleSecurity> {
  await operator.call("POST", "/advisories", { records: advisories });
  await operator.call("POST", "/exploits", { date: "2026-11-01", ...exploits, last: true });
  const upload = (project: string, packages: readonly (readonly [string, string])[], product?: string) => {
    const query = new URLSearchParams({ workspace: name, project, ...(product && { product }), filename: `${project}.json` });
    return operator.call<{ project_id: string }>("POST", `/sboms?${query}`, document(project, packages));
  };
  // There are no advisories for it.
  const query = new URLSearchParams({ workspace: name, project: "reports", filename: "reports.json" });
  await operator.call("POST", `/sboms?${query}`, document("reports", [["jinja2", "2.11.2"]], "pypi"));
  // The next SBOM differs from it.
  await upload("shop", [
    ["express", "4.19.2"],
    ["left-pad", "1.3.0"],
  ]);
  const { project_id: project } = await upload(
    "shop",
    [
      ["express", "4.18.0"],
      ["lodash", "4.17.20"],
      ["minimist", "1.2.5"],
    ],
    "Storefront",
  );
  await upload("worker", [["debug", "4.3.0"]], "Storefront");
  await upload("landing page", [["left-pad", "1.3.0"]]);
  const form = { workspace: name, owner: member, kind: "tools", name: "Coding agent" };
  const tools = new Tools(url, (await operator.call<{ key: string }>("POST", "/keys", form)).key);
  let findings: Record<string, unknown>[] = [];
  await until(async () => (findings = await tools.list("list_findings", "findings")).length >= advisories.length, 30_000);
  const [open, decided, ignored] = findings;
  await tools.call("update_finding", { finding_id: decided?.["id"], status: "in_progress", note: "The update is being tested" });
  await tools.call("update_finding", {
    finding_id: ignored?.["id"],
    status: "not_affected",
    justification: "code_not_reachable",
    note: "No template is made of input",
    owner: member,
  });
  const [product] = await tools.list("list_products", "products");
  await tools.call("submit_feedback", { message: "The list of findings could be grouped by package", rating: 4 });
  await tools.call("report_bug", { expected_behavior: "Two projects are listed", actual_behavior: "One is" });
  await tools.call("create_support_request", { subject: "Retention", message: "How long are findings kept?" });
  const [ticket] = await tools.list("list_my_tickets", "tickets");
  return {
    project,
    product: String(product?.["id"]),
    finding: String(open?.["id"]),
    cve: String(open?.["cve_id"]),
    ticket: String(ticket?.["id"]),
  };
}

class Tools {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async call(operation: string, body: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.#url}/api/tools/platform_${operation}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const failure = new Error(`${operation} gave ${response.status}: ${text}`);
    if (!response.ok) throw failure;
    const { data } = JSON.parse(text) as { data?: Record<string, unknown> };
    if (!data) throw failure;
    return data;
  }

  async list(operation: string, plural: string): Promise<Record<string, unknown>[]> {
    const rows = (await this.call(operation))[plural];
    return Array.isArray(rows) ? rows : [];
  }
}
