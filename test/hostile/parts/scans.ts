/** Scans one workspace's SBOM with as many findings as fit, while others send requests, upload and decide. They must not notice it. */
import { sbomVersionsMax, scanFindingsMax } from "../../../src/security/limits.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import type { PartOptions } from "./part.ts";
import { WatchedRequests } from "./watched.ts";

const packages = 12;
const issues = 20;
const everyMs = 500;
const smallMsMax = 30_000;
const freshKeys = 60;
/** The owner of each customer's keys. */
const owner = "owner@example.test";

export async function scansPart({ seconds, say }: PartOptions): Promise<string[]> {
  await using fleet = await Fleet.start({ services: null });
  const operator = fleet.operator();
  await operator.call("POST", "/advisories", { records: Array.from({ length: issues }, (_, index) => record(index)) });
  const { workspace, keys } = await operator.customer({ credit: "1", keys: freshKeys });
  const [hostile, honest] = [
    await operator.toolsKey({ workspace, owner }),
    await operator.toolsKey({ workspace: (await operator.customer({ credit: "1" })).workspace, owner }),
  ];
  const tools = (key: string, name: string, body: object) => toolsCall(fleet.url(), { key, name, body });
  const refused = await tools(hostile, "upload_sbom", { sbom: document([sbomVersionsMax * packages]), project: "refused" });
  say(`${sbomVersionsMax * packages} versions of one package: ${refused.status}, ${refused.error}`);
  await tools(hostile, "upload_sbom", {
    sbom: document(Array.from({ length: packages }, () => sbomVersionsMax)),
    project: "large",
  });
  const small = await tools(honest, "upload_sbom", { sbom: document([3]), project: "small" });
  const since = performance.now();
  let smallMs = Infinity;
  const others = new WatchedRequests();
  for (let n = 0; performance.now() - since < seconds * 1_000; n++) {
    const startedAt = performance.now();
    await Promise.all([
      others.watch("/ready", fetch(`${fleet.url()}/ready`)),
      others.watch(
        "fresh key",
        fetch(`${fleet.url()}/gpt/v1/key`, { headers: { authorization: `Bearer ${keys[n % freshKeys]?.key}` } }),
      ),
      others.watch("update_finding", decide(tools, hostile)),
    ]);
    const shown = await tools(honest, "get_project", { project_id: small.data["project_id"] });
    if (smallMs === Infinity && shown.data["scan_status"] === "completed") smallMs = performance.now() - since;
    await Bun.sleep(Math.max(0, everyMs - (performance.now() - startedAt)));
  }
  const large = await tools(hostile, "list_projects", { name: "large" });
  say(`${packages * sbomVersionsMax * issues} findings, for ${seconds} s; state of their scan: ${stateOf(large.data)}`);
  for (const line of others.lines()) say(line);
  say(`small SBOM of another workspace scanned after ${(smallMs / 1_000).toFixed(1)} s`);
  return [
    ...others.broken(),
    ...(refused.status === 400 ? [] : [`a document of too many versions was answered with ${refused.status}`]),
    ...(smallMs <= smallMsMax ? [] : [`a small SBOM waited longer than ${smallMsMax / 1_000} s`]),
  ];
}

/** @returns null while there is no finding to decide about */
async function decide(
  tools: (key: string, name: string, body: object) => Promise<{ status: number; data: Record<string, unknown> }>,
  key: string,
): Promise<{ status: number } | null> {
  const listed = await tools(key, "list_findings", { project_id: undefined, limit: 1 });
  const [first] = Array.isArray(listed.data["findings"]) ? listed.data["findings"] : [];
  if (first === undefined) return null;
  return tools(key, "update_finding", { finding_id: first.id, note: `seen ${Math.random()}` });
}

function stateOf({ projects }: Record<string, unknown>): string {
  const [first] = Array.isArray(projects) ? projects : [];
  return `${first?.scan_status}, ${first?.vulnerability_counts?.total} issues so far, in transactions of at most ${scanFindingsMax} rows`;
}

function record(index: number) {
  const affected = Array.from({ length: packages }, (_, at) => ({
    package: { ecosystem: "npm", name: `package-${at}` },
    ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "9.0.0" }] }],
  }));
  return { id: `HOSTILE-${index}`, modified: "2026-01-01T00:00:00Z", affected };
}

/** @param counts the number of versions of each package */
function document(counts: readonly number[]) {
  const components = counts.flatMap((count, at) =>
    Array.from({ length: count }, (_, index) => ({
      type: "library",
      name: `package-${at}`,
      version: `1.0.${index}`,
      purl: `pkg:npm/package-${at}@1.0.${index}`,
    })),
  );
  return { bomFormat: "CycloneDX", specVersion: "1.6", components };
}

async function toolsCall(url: string, { key, name, body }: { key: string; name: string; body: object }) {
  const response = await fetch(`${url}/api/tools/platform_${name}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { data = {}, error = "" } = (await response.json()) as { data?: Record<string, unknown>; error?: string };
  return { status: response.status, data, error };
}
