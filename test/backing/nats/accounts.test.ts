/** The documented accounts of NATS give each kind of process what it needs, and nothing else. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect, PermissionViolationError } from "nats";
import { startNats } from "../../../scripts/services/nats.ts";
import { environmentOf } from "../../../scripts/services/program.ts";
import type { Server } from "../../../scripts/services/server.ts";
import type { Bus } from "../../../src/backing/bus.ts";
import { DistributedBus } from "../../../src/backing/nats/bus.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { repository } from "../../support/processes/process.ts";
import { selfSigned } from "../../support/servers/self-signed.ts";
import { temporaryFolder, testServers } from "../../support/servers/services.ts";
import { until } from "../../support/until.ts";

const servers = await testServers();
const payload = new TextEncoder().encode("may I?");
const folder = join(repository, "deploy/nats");
const users = ["gateway", "admission", "metering", "worker"] as const;
type User = (typeof users)[number];

const passwords: Record<string, string> = Object.fromEntries(users.map((user) => [user, `w${randomBytes(24).toString("hex")}`]));
const environment = Object.fromEntries(users.map((user) => [`WEIR_NATS_${user.toUpperCase()}_PASSWORD`, passwords[user] ?? ""]));

const refused: [User, "publish" | "subscribe", string][] = [
  // Only metering takes settlements, and only metering changes or deletes them.
  ["gateway", "publish", "$JS.API.CONSUMER.MSG.NEXT.settlements.worker"],
  ["gateway", "publish", "$JS.API.STREAM.PURGE.settlements"],
  ["gateway", "publish", "$JS.ACK.settlements.worker.1.1.1.1.1"],
  ["gateway", "subscribe", "weir.event.>"],
  ["admission", "publish", "weir.event.settlements"],
  ["worker", "publish", "weir.event.settlements"],
  ["metering", "publish", "$JS.API.STREAM.DELETE.settlements"],
  ["metering", "publish", "$JS.API.STREAM.CREATE.other"],
  ["metering", "publish", "$JS.API.STREAM.SNAPSHOT.settlements"],
  // Only gateways ask admission, and only admission answers as such.
  ["metering", "publish", "weir.ask.admission.any"],
  ["worker", "publish", "weir.ask.admission.any"],
  ["gateway", "publish", "weir.beat.ask.admission"],
  ["gateway", "subscribe", "weir.ask.>"],
  ["worker", "publish", "_INBOX.of.another"],
  ["worker", "subscribe", "weir.>"],
  ["gateway", "publish", "other"],
  ["gateway", "subscribe", ">"],
];

describe.skipIf(servers === null)("the accounts of deploy/nats", () => {
  const stack = new AsyncDisposableStack();
  let server: Server;

  beforeAll(async () => {
    if (servers === null) return;
    const settings = [readFileSync(join(folder, "accounts.conf"), "utf8")];
    const access = { settings, environment, user: "weir-gateway", password: passwords["gateway"] ?? "" };
    server = stack.use(await startNats({ program: servers.nats, folder: await temporaryFolder("nats"), access }));
  }, 60_000);
  afterAll(() => stack.disposeAsync());

  function openBus(user: User): Bus {
    const url = `nats://weir-${user}:${passwords[user]}@127.0.0.1:${server.port}`;
    return stack.use(new DistributedBus({ url: new Secret(url), name: user, clock: systemClock, log: silentLog }));
  }

  test("carry everything that a fleet sends", async () => {
    const [gateway, admission, metering, worker] = [
      openBus("gateway"),
      openBus("admission"),
      openBus("metering"),
      openBus("worker"),
    ];
    const seen: string[] = [];
    const heard: string[] = [];
    using _report = gateway.serveScatter("open-generations", () => payload);
    await using _serving = await admission.serve("admission", async (question) => question);
    await using _consuming = await metering.consume("settlements", { messagesMax: 10 }, async (events) => {
      seen.push(...events.map(({ id }) => id));
    });
    for (const [name, bus] of Object.entries({ gateway, admission, metering, worker })) {
      bus.listen("records-changed", () => heard.push(name));
    }
    await until(async () => (await gateway.request("admission", payload).catch(() => null)) !== null);
    await until(() => gateway.partitions("settlements") === 1 && gateway.connected() && worker.connected());
    await until(() =>
      gateway.publish("settlements", "of a gateway", payload).then(
        () => true,
        () => false,
      ),
    );
    await metering.publish("settlements", "of the sweeper", payload);
    await until(() => seen.length === 2);
    for (const bus of [gateway, admission, metering]) {
      await until(async () => (await bus.backlog("settlements").catch(() => null))?.messages === 0);
    }
    for (const bus of [gateway, admission, metering]) {
      await until(async () => (await bus.scatter("open-generations", payload, 300).catch(() => [])).length === 1);
    }
    worker.broadcast("records-changed");
    await until(() => new Set(heard).size === 4);
  }, 30_000);

  test("refuse everything else", async () => {
    const outcomes = await Promise.all(
      refused.map(async ([user, what, subject]) => [user, what, subject, await tried(user, what, subject)]),
    );
    expect(outcomes).toEqual(refused.map((row) => [...row, `${row[1]} ${row[2]}`]));
  }, 30_000);

  /** What the server refused. */
  async function tried(user: User, what: "publish" | "subscribe", subject: string): Promise<string | null> {
    const connection = await connect({ servers: `127.0.0.1:${server.port}`, user: `weir-${user}`, pass: passwords[user] ?? "" });
    let found: string | null = null;
    const watching = (async () => {
      for await (const status of connection.status()) {
        const error = status.type === "error" ? status.error : null;
        if (error instanceof PermissionViolationError)
          found = `${error.operation === "publish" ? "publish" : "subscribe"} ${error.subject}`;
      }
    })();
    if (what === "publish") connection.publish(subject, payload);
    else connection.subscribe(subject, { callback: () => {} });
    await connection.flush();
    await connection.close();
    await watching;
    return found;
  }

  test("the configuration of a cluster is one that NATS accepts", async () => {
    if (servers === null) return;
    const home = await temporaryFolder("nats-config");
    const { key, cert } = selfSigned("localhost");
    const names = { "server.pem": cert, "server-key.pem": key, "authority.pem": cert };
    for (const [name, text] of Object.entries(names)) await writeFile(join(home, name), text, { mode: 0o600 });
    const text = readFileSync(join(folder, "server.conf"), "utf8").replaceAll("/etc/nats", home);
    await writeFile(join(home, "server.conf"), text);
    await writeFile(join(home, "accounts.conf"), readFileSync(join(folder, "accounts.conf")));
    const { status, stderr } = spawnSync(servers.nats.path, ["-t", "--config", join(home, "server.conf")], {
      env: { ...environmentOf(servers.nats), ...environment, WEIR_NATS_NAME: "one" },
      encoding: "utf8",
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
  });
});
