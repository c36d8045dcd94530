import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createProbeFetch } from "../../../src/connectors/connections/probe.ts";
import { probeAnswerBytesMax, probeCallMs } from "../../../src/connectors/limits.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { selfSigned } from "../../support/servers/self-signed.ts";
import { until } from "../../support/until.ts";

const host = "vendor.weir-test.example";
const secure = selfSigned(host);

describe("a request to a vendor", () => {
  let server: Server;
  let port: number;
  let reached = 0;
  const heard: string[] = [];
  beforeAll(async () => {
    server = createServer({ ...secure }, (request, response) => {
      heard.push(`${request.method} ${request.headers.host} ${request.url} ${request.headers.authorization}`);
      if (request.url === "/silent") return;
      if (request.url === "/moved") return void response.writeHead(302, { location: "/elsewhere" }).end();
      response.end(request.url === "/large" ? "a".repeat(probeAnswerBytesMax + 1) : '{"ok":true}');
    });
    server.on("connection", () => reached++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const here = async () => [{ address: "127.0.0.1", family: 4 }];
  const outside = (more = {}) =>
    createProbeFetch({
      clock: systemClock,
      resolve: here,
      isAllowedAddress: () => true,
      authorities: String(secure.cert),
      ...more,
    });
  const get = (path: string, name = host) => ({
    method: "GET" as const,
    url: new URL(`https://${name}:${port}${path}`),
    headers: { authorization: "Bearer right" },
  });

  test("reaches the checked address, under the vendor's name", async () => {
    expect(await outside()(get("/users?limit=1"))).toEqual({ status: 200, body: '{"ok":true}' });
    expect(heard).toContain(`GET ${host}:${port} /users?limit=1 Bearer right`);
  });

  test("follows no redirect", async () => {
    expect(await outside()(get("/moved"))).toMatchObject({ status: 302 });
    expect(heard.join()).not.toContain("/elsewhere");
  });

  test("reaches no server without the vendor's certificate", async () => {
    await failureOf(outside({ authorities: undefined })(get("/untrusted")));
    await failureOf(outside()(get("/other-name", "other.weir-test.example")));
    expect(heard.join()).not.toMatch(/untrusted|other-name/);
  });

  test.each([
    ["resolves to a private address", async () => [{ address: "127.0.0.1", family: 4 }]],
    [
      "resolves to a private and a public address",
      async () => [
        { address: "1.1.1.1", family: 4 },
        { address: "::ffff:127.0.0.1", family: 6 },
      ],
    ],
    ["resolves to nothing", async () => []],
  ])("connects to nothing when the name %s", async (_what, resolve) => {
    const before = reached;
    const probeFetch = createProbeFetch({ clock: systemClock, resolve, authorities: String(secure.cert) });
    expect(String(await failureOf(probeFetch(get("/")))).toLowerCase()).toContain("not reachable from everywhere");
    expect(reached).toBe(before);
  });

  test.each(["127.0.0.1", "[::ffff:127.0.0.1]", "localhost", "2130706433"])("connects to nothing at %s", async (name) => {
    const before = reached;
    expect(String(await failureOf(createProbeFetch({ clock: systemClock })(get("/", name))))).toContain("needed");
    expect(reached).toBe(before);
  });

  test("fails if the answer is too large or does not arrive", async () => {
    await failureOf(outside()(get("/large")));
    const clock = new ManualClock();
    const failure = failureOf(outside({ clock })(get("/silent")));
    await until(() => heard.join().includes("/silent"));
    await clock.advance(probeCallMs);
    expect(String(await failure)).toContain("did not end");
    expect(clock.pending).toBe(0);
  });
});
