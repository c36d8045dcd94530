/** Traffic between a fleet and its servers can be neither read nor redirected on the network between them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { ServiceUrls } from "../../scripts/services.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { OurProcess } from "../support/processes/process.ts";
import type { Reaching } from "../support/processes/reaching-process.ts";
import { RawServer } from "../support/servers/raw-server.ts";
import { selfSigned } from "../support/servers/self-signed.ts";
import { temporaryFolder, testServers } from "../support/servers/services.ts";
import { startTlsServers, type TlsServers } from "../support/servers/tls-servers.ts";

setDefaultTimeout(60_000);
const found = await testServers();
/** Bun's client of Redis, and the one of other runtimes. */
const redisClients = ["bun", "package"] as const;

const ways: [name: keyof ServiceUrls, client: Reaching["client"]][] = [
  ["DATABASE_URL", ""],
  ["NATS_URL", ""],
  ...redisClients.map((client): [keyof ServiceUrls, Reaching["client"]] => ["REDIS_URL", client]),
];

describe.skipIf(found === null)("over TLS", () => {
  const stack = new AsyncDisposableStack();
  let servers: TlsServers;
  let trusted = "";
  /** A database that reports that it has no TLS. */
  let plainDatabase: RawServer;
  /** What processes said of each server, by whether they trust its authority. A process costs more than all that it reaches. */
  const said = { trusting: new Map<string, string>(), doubting: new Map<string, string>() };

  beforeAll(async () => {
    if (found === null) return;
    const folder = await temporaryFolder("tls");
    const secure = selfSigned("localhost");
    trusted = join(folder, "authority.pem");
    await writeFile(trusted, secure.cert);
    servers = stack.use(await startTlsServers({ servers: found, folder: join(folder, "servers"), secure }));
    const hasNoTls = (socket: Socket, text: string) => void (text.length === 8 ? socket.write("N") : socket.destroy());
    plainDatabase = stack.use(await new RawServer(hasNoTls).listen());
    const right = ways.map(([name, client]) => ({ address: servers.urls[name], client }));
    const named = [...right, { address: requiringTls(), client: "" as const }];
    const wrongNamed = named.map(({ address, client }) => ({ address: withWrongName(address), client }));
    const plain = [
      { address: addressOfPlain(), client: "" as const },
      ...redisClients.map((client) => ({ address: addressOfPlainRedis(), client })),
    ];
    [said.trusting, said.doubting] = await Promise.all([
      reachedBy([...named, ...wrongNamed, ...plain], { NODE_EXTRA_CA_CERTS: trusted }),
      reachedBy(named, {}),
    ]);
  });
  afterAll(() => stack.disposeAsync());

  const requiringTls = (): string => servers.urls.DATABASE_URL.replace("verify-full", "require");
  const withWrongName = (address: string): string => address.replace("localhost", "127.0.0.1");
  const addressOfPlain = (): string => `postgres://weir:hush@localhost:${plainDatabase.port}/weir?sslmode=verify-full`;
  const addressOfPlainRedis = (): string => servers.plain.REDIS_URL.replace("redis:", "rediss:");

  /** Reaches all of them in one process. */
  async function reachedBy(asked: Reaching[], environment: Record<string, string>): Promise<Map<string, string>> {
    const words = ["test/support/processes/reaching-process.ts", JSON.stringify(asked)];
    await using reaching = new OurProcess({ arguments: words, environment });
    await reaching.exited;
    const outcomes: string[] = JSON.parse(reaching.output);
    return new Map(asked.map((one, place) => [nameOf(one), outcomes[place] ?? ""]));
  }

  /** @param client which one connects to a Redis */
  function reached(address: string, trust: keyof typeof said, client: Reaching["client"] = ""): string {
    const outcome = said[trust].get(nameOf({ address, client }));
    if (outcome === undefined) throw new Error(`Nothing was to reach ${address}`);
    return outcome;
  }

  test.each(ways)("%s %s reaches a server whose certificate is trusted", (name, client) => {
    expect(reached(servers.urls[name], "trusting", client)).toBe("reached");
  });

  test.each(ways)("%s %s does not reach a server whose certificate no authority has signed", (name, client) => {
    expect(reached(servers.urls[name], "doubting", client)).toMatch(/self[- ]signed|certificate|UNABLE_TO_VERIFY/i);
  });

  test.each(ways)("%s %s does not reach a server whose trusted certificate has another name", (name, client) => {
    expect(reached(withWrongName(servers.urls[name]), "trusting", client)).toContain("does not match certificate's altnames");
  });

  test("the certificate of a database is verified under `sslmode=require` too, which elsewhere accepts any certificate", () => {
    expect(reached(requiringTls(), "trusting")).toBe("reached");
    expect(reached(requiringTls(), "doubting")).not.toBe("reached");
    expect(reached(withWrongName(requiringTls()), "trusting")).not.toBe("reached");
  });

  test("a database that reports that it has no TLS gets neither user nor password", () => {
    expect(reached(addressOfPlain(), "trusting")).not.toBe("reached");
    expect(plainDatabase.received[0]?.startsWith("\0\0\0\x08\x04\xd2\x16\x2f")).toBe(true);
    expect(plainDatabase.received.join("")).not.toMatch(/weir|hush/);
  });

  test.each(redisClients)("the client %p sends nothing to a Redis without TLS", (client) => {
    expect(reached(addressOfPlainRedis(), "trusting", client)).not.toBe("reached");
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

function nameOf({ address, client }: Reaching): string {
  return `${address} ${client}`;
}
