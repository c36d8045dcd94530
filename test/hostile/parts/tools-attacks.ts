/** Attacks with a tools key. Each goes on until its signal aborts. */
import { sleep, systemClock } from "../../../src/kernel/clock.ts";
import { RawClient } from "../../support/servers/raw-client.ts";

export interface Attack {
  port: number;
  key: string;
  signal: AbortSignal;
  /** Called with the status of each answer. */
  answered(status: number): void;
}

const mebibyte = 1024 * 1024;
/** An attacker pauses this long after a refusal, since it shares the machine with the service and would otherwise measure itself. */
const refusedRestMs = 20;
const loopsOfKey = 4;
const slowSocketsOfKey = 8;
const slowLookMs = 500;

const path = (operation: string) => `/api/tools/platform_${operation}`;

async function post(attack: Attack, to: string, body: string): Promise<void> {
  const { port, key, signal, answered } = attack;
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  try {
    const response = await fetch(`http://127.0.0.1:${port}${to}`, { method: "POST", headers, body, signal });
    await response.arrayBuffer();
    answered(response.status);
    if (response.status !== 200) await sleep(systemClock, refusedRestMs, signal);
  } catch {
    if (!signal.aborted) await sleep(systemClock, refusedRestMs, signal);
  }
}

async function repeated(attack: Attack, once: () => Promise<void>): Promise<void> {
  const loop = async (): Promise<void> => {
    while (!attack.signal.aborted) await once();
  };
  await Promise.all(Array.from({ length: loopsOfKey }, loop));
}

function bomOf(purls: readonly string[]): object {
  const components = purls.map((purl, number) => ({ type: "library", name: `part ${number}`, version: "1", purl }));
  return { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, components };
}

function upload(sbom: unknown): string {
  return JSON.stringify({ project: "attack", sbom });
}

/** Sends a document of many megabytes again and again. */
function largeBodyThrottle(attack: Attack): Promise<void> {
  const body = upload("x".repeat(20 * mebibyte));
  return repeated(attack, () => post(attack, path("upload_sbom"), body));
}

/** Package URLs that are slow to match, in documents for the event loop and in documents for the subprocess. */
function hostilePurls(attack: Attack): Promise<void> {
  const small = upload(bomOf([`pkg:npm/x${"/".repeat(28_000)}y`]));
  const large = upload(bomOf(Array.from({ length: 12 }, () => `pkg:npm/x${"/".repeat(65_000)}y`)));
  let sent = 0;
  return repeated(attack, () => post(attack, path("upload_sbom"), sent++ % 2 === 0 ? small : large));
}

/** Calls lists as fast as possible. */
function calls(attack: Attack): Promise<void> {
  const bodies = [path("list_findings"), path("list_vulnerabilities"), path("list_projects"), path("submit_feedback")];
  let sent = 0;
  return repeated(attack, () => {
    const message = JSON.stringify(sent % 4 === 3 ? { message: `Number ${sent}` } : {});
    return post(attack, bodies[sent++ % 4] ?? "", message);
  });
}

/** Sends batches of a hundred calls, and single calls. */
function mcp(attack: Attack): Promise<void> {
  const call = (id: number) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "platform_list_projects", arguments: {} },
  });
  const batch = JSON.stringify(Array.from({ length: 100 }, (_, id) => call(id)));
  const single = JSON.stringify(call(1));
  let sent = 0;
  return repeated(attack, () => post(attack, "/mcp", sent++ % 2 === 0 ? batch : single));
}

/** Sends bodies that never end. */
async function slowBodies(attack: Attack): Promise<void> {
  const open = (): RawClient => {
    const head = [
      `POST ${path("upload_sbom")} HTTP/1.1`,
      "Host: weir",
      `Authorization: Bearer ${attack.key}`,
      "Content-Type: application/json",
      `Content-Length: ${60 * mebibyte}`,
    ];
    return new RawClient(attack.port).send(...head, "", `{"sbom":"${"x".repeat(mebibyte)}`);
  };
  const clients = Array.from({ length: slowSocketsOfKey }, open);
  while (!attack.signal.aborted) {
    await sleep(systemClock, slowLookMs, attack.signal);
    for (const [index, client] of clients.entries()) {
      if (client.text === "") continue;
      attack.answered(Number(client.text.slice(9, 12)));
      client[Symbol.dispose]();
      clients[index] = open();
    }
  }
  for (const client of clients) client[Symbol.dispose]();
}

export const attacks: Record<string, (attack: Attack) => Promise<void>> = {
  "large bodies": largeBodyThrottle,
  "slow bodies": slowBodies,
  "hostile purls": hostilePurls,
  calls,
  mcp,
};
