/** Traffic between a fleet and its servers can be neither read nor redirected on the network between them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { ServiceUrls } from "../../scripts/services.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { OurProcess } from "../support/processes/process.ts";
import { RawServer } from "../support/servers/raw-server.ts";
import { selfSigned } from "../support/servers/self-signed.ts";
import { temporaryFolder, testServers } from "../support/servers/services.ts";
import { startTlsServers, type TlsServers } from "../support/servers/tls-servers.ts";

setDefaultTimeout(60_000);
const found = await testServers();
/** Bun's client of Redis, and the one of other runtimes. */
const redisClients = ["bun", "package"] as const;

describe.skipIf(found === null)("over TLS", () => {
  const stack = new AsyncDisposableStack();
  let servers: TlsServers;
  let trusted = "";

  beforeAll(async () => {
    if (found === null) return;
    const folder = await temporaryFolder("tls");
    const secure = selfSigned("localhost");
    trusted = join(folder, "authority.pem");
    await writeFile(trusted, secure.cert);
    servers = stack.use(await startTlsServers({ servers: found, folder: join(folder, "servers"), secure }));
  });
  afterAll(() => stack.disposeAsync());

  /** @param client which one connects to a Redis */
  async function reached(url: string, authority: string | null, client = ""): Promise<string> {
    const environment: Record<string, string> = authority === null ? {} : { NODE_EXTRA_CA_CERTS: authority };
    await using reaching = new OurProcess({
      arguments: ["test/support/processes/reaching-process.ts", url, client],
      environment,
    });
    await reaching.exited;
    return reaching.output;
  }

  const ways: [keyof ServiceUrls, client: string][] = [
    ["DATABASE_URL", ""],
    ["NATS_URL", ""],
    ...redisClients.map((client): [keyof ServiceUrls, string] => ["REDIS_URL", client]),
  ];

  test.each(ways)("%s %s reaches a server whose certificate is trusted", async (name, client) => {
    expect(await reached(servers.urls[name], trusted, client)).toBe("reached\n");
  });

  test.each(ways)("%s %s does not reach a server whose certificate no authority has signed", async (name, client) => {
    const said = await reached(servers.urls[name], null, client);
    expect(said).not.toContain("reached\n");
    expect(said).toMatch(/self[- ]signed|certificate|UNABLE_TO_VERIFY/i);
  });

  test.each(ways)("%s %s does not reach a server whose trusted certificate has another name", async (name, client) => {
    const said = await reached(servers.urls[name].replace("localhost", "127.0.0.1"), trusted, client);
    expect(said).not.toContain("reached\n");
    expect(said).toContain("does not match certificate's altnames");
  });

  test("the certificate of a database is verified under `sslmode=require` too, which elsewhere accepts any certificate", async () => {
    const url = servers.urls.DATABASE_URL.replace("verify-full", "require");
    expect(await reached(url, trusted)).toBe("reached\n");
    expect(await reached(url, null)).not.toContain("reached\n");
    expect(await reached(url.replace("localhost", "127.0.0.1"), trusted)).not.toContain("reached\n");
  });

  test("a database that reports that it has no TLS gets neither user nor password", async () => {
    const noTls = (socket: Socket, text: string) => void (text.length === 8 ? socket.write("N") : socket.destroy());
    await using server = await new RawServer(noTls).listen();
    const said = await reached(`postgres://weir:hush@localhost:${server.port}/weir?sslmode=verify-full`, trusted);
    expect(said).not.toContain("reached\n");
    expect(server.received[0]?.startsWith("\0\0\0\x08\x04\xd2\x16\x2f")).toBe(true);
    expect(server.received.join("")).not.toMatch(/weir|hush/);
  });

  test.each(redisClients)("the client %p sends nothing to a Redis without TLS", async (client) => {
    expect(await reached(servers.plain.REDIS_URL.replace("redis:", "rediss:"), trusted, client)).not.toContain("reached\n");
  });

  test("a whole fleet serves", async () => {
    const environment = { NODE_EXTRA_CA_CERTS: trusted };
    await using fleet = await Fleet.start({ services: servers.urls, environment });
    const { keys } = await fleet.operator().customer({ credit: "1" });
    const answer = await fetch(`${fleet.url()}/gpt/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys[0]?.key}` },
      body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(answer.status).toBe(200);
  });
});
