/** A member exports and imports VEX documents of thousands of findings, and looks at their project, without a pause. Others' requests must not notice it. */
import { freePort } from "../../../scripts/services/ports.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import type { Operator } from "../../support/operator.ts";
import { until } from "../../support/until.ts";
import { tallied } from "./bodies.ts";
import type { PartOptions } from "./part.ts";
import { WatchedRequests } from "./watched.ts";

const packages = 5;
const versions = 999;
const issues = 4;
const findings = packages * versions * issues;
const exportsAtOnce = 8;
const everyMs = 500;
const freshKeys = 60;
/** CPU time between two turns; garbage collection of all requests counts too. */
const blockedMsMax = 100;
const scanMsMax = 180_000;
/** The owner of each customer's keys. */
const owner = "owner@example.test";
const meterFile = new URL("../blocking/event-loop-meter.ts", import.meta.url).pathname;

export async function documentsPart({ seconds, say }: PartOptions): Promise<string[]> {
  const meter = await freePort();
  const environment = { METER_PORT: String(meter), BUN_OPTIONS: `--preload=${meterFile}` };
  await using fleet = await Fleet.start({ services: null, environment });
  const operator = fleet.operator();
  const { workspace, keys } = await operator.customer({ credit: "1", keys: freshKeys });
  await storeFindings(operator, { url: fleet.url(), workspace });
  const session = await sessionOf(operator, fleet.url());
  const blockedMs = async () => Number(await (await fetch(`http://127.0.0.1:${meter}`)).text());
  const stop = new AbortController();
  const statuses: Record<string, Record<string, number>> = {};
  const asked = async (name: string, path: string, body?: string): Promise<void> => {
    const status = await statusOf(`${fleet.url()}/api/console${path}`, { session, body, stop });
    const counts = (statuses[name] ??= {});
    if (status !== null) counts[status] = (counts[status] ?? 0) + 1;
    if (status !== 200) await Bun.sleep(20);
  };
  const vex = (name: "export" | "import", body?: string) => asked(name, `/vex?workspace=${workspace}&project=large`, body);
  const repeated = async (once: (n: number) => Promise<void>): Promise<void> => {
    for (let n = 0; !stop.signal.aborted; n++) await once(n);
  };
  await blockedMs();
  const attack = [
    ...Array.from({ length: exportsAtOnce }, () => repeated(() => vex("export"))),
    repeated((n) => vex("import", decisions(n % 2 === 0 ? "in_triage" : "resolved"))),
    repeated(() => asked("project", `/projects/large?workspace=${workspace}`)),
  ];
  const others = new WatchedRequests();
  for (const since = performance.now(), n = { at: 0 }; performance.now() - since < seconds * 1_000; n.at++) {
    const headers = { authorization: `Bearer ${keys[n.at % freshKeys]?.key}` };
    await Promise.all([
      others.watch("/ready", fetch(`${fleet.url()}/ready`)),
      others.watch("fresh key", fetch(`${fleet.url()}/gpt/v1/key`, { headers })),
    ]);
    await Bun.sleep(everyMs);
  }
  const longestMs = await blockedMs();
  stop.abort();
  await Promise.all(attack);
  say(`${findings} findings, exported by ${exportsAtOnce} connections of a member and decided by one, for ${seconds} s`);
  for (const [name, counts] of Object.entries(statuses)) say(`${name}: ${tallied(counts)}`);
  for (const line of others.lines()) say(line);
  say(`the longest turn of the event loop took ${longestMs.toFixed(0)} ms of CPU time`);
  return [...others.broken(), ...(longestMs <= blockedMsMax ? [] : [`a turn of the event loop took ${longestMs.toFixed(0)} ms`])];
}

/** @returns the status; null: the attack is over */
async function statusOf(
  url: string,
  { session, body, stop }: { session: string; body: string | undefined; stop: AbortController },
): Promise<number | null> {
  const headers = { cookie: `weir=${session}`, "sec-fetch-site": "same-origin", "content-type": "application/json" };
  try {
    const method = body === undefined ? "GET" : "POST";
    const response = await fetch(url, { method, headers, signal: stop.signal, ...(body !== undefined && { body }) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return stop.signal.aborted ? null : 0;
  }
}

async function storeFindings(operator: Operator, { url, workspace }: { url: string; workspace: string }): Promise<void> {
  const names = Array.from({ length: packages }, (_, at) => `package-${at}`);
  const ranges = [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "9.0.0" }] }];
  const affected = names.map((name) => ({ package: { ecosystem: "npm", name }, ranges }));
  const records = Array.from({ length: issues }, (_, index) => ({
    id: `HOSTILE-${index}`,
    modified: "2026-01-01T00:00:00Z",
    affected,
  }));
  await operator.call("POST", "/advisories", { records });
  const components = purls().map(({ name, version, purl }) => ({ type: "library", name, version, purl }));
  const body = JSON.stringify({ project: "large", sbom: { bomFormat: "CycloneDX", specVersion: "1.6", components } });
  const headers = {
    authorization: `Bearer ${await operator.toolsKey({ workspace, owner })}`,
    "content-type": "application/json",
  };
  await fetch(`${url}/api/tools/platform_upload_sbom`, { method: "POST", headers, body });
  await until(async () => {
    await Bun.sleep(everyMs);
    return (await operator.call("GET", `/projects/large?workspace=${workspace}`))["scan_status"] === "completed";
  }, scanMsMax);
}

function purls(): { name: string; version: string; purl: string }[] {
  return Array.from({ length: packages * versions }, (_, index) => {
    const [name, version] = [`package-${index % packages}`, `1.0.${Math.floor(index / packages)}`];
    return { name, version, purl: `pkg:npm/${name}@${version}` };
  });
}

/** A statement about each version of each package. */
function decisions(state: string): string {
  const vulnerabilities = [{ id: "HOSTILE-0", analysis: { state }, affects: purls().map(({ purl: ref }) => ({ ref })) }];
  return JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", vulnerabilities });
}

async function sessionOf(operator: Operator, url: string): Promise<string> {
  const { url: link } = await operator.call<{ url: string }>("POST", "/session-links", { email: owner });
  const opened = await fetch(url + new URL(link).pathname, {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin" },
    redirect: "manual",
  });
  const [, session] = /^weir=([\w-]+)/.exec(opened.headers.get("set-cookie") ?? "") ?? [];
  if (session === undefined) throw new Error(`The link answered ${opened.status}: ${await opened.text()}`);
  return session;
}
