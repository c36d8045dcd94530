/** TLS to providers: a host that cannot prove its name receives nothing, least of all our key. */
import { afterAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RawServer } from "../../support/servers/raw-server.ts";
import { selfSigned } from "../../support/servers/self-signed.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const secure = selfSigned("localhost");
const folder = await temporaryFolder();
const certificate = join(folder.path, "certificate.pem");
await writeFile(certificate, secure.cert);
afterAll(() => folder[Symbol.asyncDispose]());

/** @param trusted the file of an authority that is trusted in addition to the system's */
async function callFrom(url: string, trusted?: string): Promise<string> {
  const environment = { ...process.env, ...(trusted === undefined ? {} : { NODE_EXTRA_CA_CERTS: trusted }) };
  const script = join(import.meta.dir, "../../support/processes/calling-process.ts");
  const child = spawn(process.execPath, [script, url], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (data) => (said += String(data)));
  await once(child, "close");
  return said.trim();
}

function serving(): Promise<RawServer> {
  return new RawServer((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"), secure).listen();
}

test("a host with a trusted certificate is called", async () => {
  await using server = await serving();
  expect(await callFrom(`https://localhost:${server.port}/`, certificate)).toBe("ok");
  expect(server.received[0]).toContain("a secret");
});

test.each([
  ["that nobody trusts", "localhost", undefined, "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["of another host", "127.0.0.1", certificate, "ERR_TLS_CERT_ALTNAME_INVALID"],
])("a host with a certificate %s receives nothing", async (_, host, trusted, reason) => {
  await using server = await serving();
  expect(await callFrom(`https://${host}:${server.port}/`, trusted)).toBe(`UpstreamFailure: no connection: ${reason}`);
  expect(server.received.join("")).toBe("");
});
