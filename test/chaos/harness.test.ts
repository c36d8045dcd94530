/** Tests of the harness: each fault does what its name says, and a seed always gives the same faults. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { until } from "../support/until.ts";
import { describeFault } from "./harness/faults/fault.ts";
import { planFaults } from "./harness/faults/plan-faults.ts";
import { claimsOf } from "./harness/checks/build-history.ts";
import type { RunNotes } from "./harness/checks/notes.ts";
import type { StoredCharge } from "./harness/checks/stored.ts";
import { tallyOf } from "./harness/checks/tally.ts";
import type { ProviderCall } from "./harness/world/provider.ts";
import { recoveryOf } from "./harness/checks/recovery.ts";
import { newCall, type ClientCall } from "./harness/load/client-call.ts";
import { TcpProxy } from "./harness/world/tcp-proxy.ts";

describe("the proxy imitates a bad network", () => {
  let stack: AsyncDisposableStack;
  let proxy: TcpProxy;
  /** Everything that the far side received, over all connections. */
  let received: string;
  let far: Socket[];

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    [received, far] = ["", []];
    const server = createServer((socket) => {
      far.push(socket);
      socket.on("data", (bytes) => (received += String(bytes))).on("error", () => {});
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    stack.defer(() => void server.close());
    proxy = stack.use(await TcpProxy.start((server.address() as AddressInfo).port));
  });
  afterEach(() => stack.disposeAsync());

  async function open(): Promise<Socket> {
    const socket = connect({ port: proxy.port, host: "127.0.0.1", noDelay: true });
    socket.on("error", () => {});
    stack.defer(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  }

  /** Resolves at any kind of close. */
  const closing = (socket: Socket) => new Promise((resolve) => socket.once("close", resolve));

  test("it delays bytes, and keeps their order when the network recovers", async () => {
    const socket = await open();
    proxy.set({ kind: "delay", ms: 100 });
    const sentAt = performance.now();
    socket.write("first ");
    await until(() => received !== "");
    expect(performance.now() - sentAt).toBeGreaterThan(90);
    proxy.set({ kind: "delay", ms: 60_000 });
    socket.write("second ");
    proxy.set({ kind: "healthy" });
    socket.write("third");
    await until(() => received.endsWith("third"));
    expect(received).toBe("first second third");
  });

  test("it is silent, and loses no byte that was sent meanwhile", async () => {
    const socket = await open();
    await until(() => far.length === 1);
    proxy.set({ kind: "silent" });
    socket.write("held ");
    const late = await open();
    late.write("as well");
    await until(() => far.length === 2);
    expect(received).toBe("");
    proxy.set({ kind: "healthy" });
    await until(() => received.length === "held as well".length);
  });

  test("it cuts open and new connections until the network recovers", async () => {
    const socket = await open();
    const closed = closing(socket);
    proxy.set({ kind: "cut" });
    await closed;
    await closing(await open());
    proxy.set({ kind: "healthy" });
    (await open()).write("again");
    await until(() => received === "again");
  });

  test("it half-opens connections: the far side is gone, and the near side gets no notice", async () => {
    const socket = await open();
    await until(() => far.length === 1);
    proxy.halfOpen();
    await until(() => far[0]?.destroyed === true);
    socket.write("into the void");
    (await open()).write("sound");
    await until(() => received === "sound");
    expect(socket.destroyed).toBe(false);
  });

  test("it breaks a connection in the middle of a message", async () => {
    const socket = await open();
    await until(() => far.length === 1);
    proxy.truncateAfter(4);
    const closed = closing(socket);
    socket.write("whole message");
    await closed;
    await until(() => received === "whol");
  });
});

describe("the fault plan of a seed", () => {
  const fleet = { gateways: 2, workers: 2, metering: 2 };
  const first = (seed: number, count: number) => {
    const plan = planFaults({ seed, longestMs: 30_000, without: [], fleet, clusters: null });
    return Array.from({ length: count }, () => plan.next().value ?? []);
  };

  test("the same seed gives the same plan, and another seed another plan", () => {
    expect(first(7, 100)).toEqual(first(7, 100));
    expect(first(7, 100)).not.toEqual(first(8, 100));
  });

  test("the plan contains every kind for every target before any comes again, within its bounds", () => {
    const faults = first(3, 80).flat();
    expect(new Set(faults.map(({ kind }) => kind)).size).toBe(11);
    for (const fault of faults) {
      if ("ms" in fault) expect(fault.ms).toBeWithin(1_000, 30_001);
      if ("delayMs" in fault) expect(fault.delayMs).toBeWithin(50, 5_001);
    }
    expect(faults.map(describeFault).filter((name) => name === "kill nats").length).toBeGreaterThan(0);
  });

  test("the plan leaves out kinds that the machine cannot inject", () => {
    const plan = planFaults({ seed: 1, longestMs: 2_000, without: ["full-disk"], fleet, clusters: null });
    const faults = Array.from({ length: 100 }, () => plan.next().value ?? []).flat();
    expect(faults.some(({ kind }) => kind === "full-disk")).toBe(false);
  });
});

describe("the fault plan for clusters", () => {
  test("one server of a cluster is disturbed at a time, no proxy is needed, and every process loses its network", () => {
    const clusters = {
      redis: ["redis-1", "redis-2"],
      nats: ["nats-1", "nats-2"],
      isolated: ["nats-2"],
      postgres: ["postgres-primary"],
    };
    const fleet = { gateways: 3, workers: 3, metering: 2 };
    const plan = planFaults({ seed: 1, longestMs: 2_000, without: [], fleet, clusters });
    const episodes = Array.from({ length: 200 }, () => plan.next().value ?? []);
    const names = episodes.map((faults) => faults.map(describeFault).join(" and "));
    for (const name of names) expect(name).not.toMatch(/redis-\d.*redis-\d|nats-\d.*nats-\d|from/);
    expect(names).toContain("kill postgres-primary");
    for (const who of ["gateway-1", "worker-3", "metering-2"])
      expect(names.some((name) => name.includes(`unplug ${who} for`))).toBe(true);
    expect(names.some((name) => name.includes("failover redis-2"))).toBe(true);
    expect(names.some((name) => name.includes(" and "))).toBe(true);
  });
});

describe("the requests of one idempotency key", () => {
  const customer = { workspace: "w", kind: "plenty" } as const;
  const first = newCall({ customer, key: "k", streamed: false, gateway: 0, idempotencyKey: "once" });
  const again = newCall({ customer, key: "k", streamed: false, gateway: 1, first });
  const calls = ["gen-1", "gen-2"].map((generation) => ({ generation, call: first.number, billed: null }) as ProviderCall);
  const notes = { clients: [first, again], provider: calls, episodes: [], topUps: [], blocks: new Map() } as unknown as RunNotes;
  const charge = (generation: string, cost: bigint) => ({ generation, workspace: "w", cost, excess: 1n - cost }) as StoredCharge;
  const tallied = (second: bigint) => {
    const charges = [charge("gen-1", 1n), charge("gen-2", second)];
    const entries = [{ workspace: "w", kind: "charge", amount: -1n - second, reference: null, at: 0 } as const];
    return tallyOf(notes, { charges, entries, held: new Set() });
  };

  test("a repetition carries the number and the key of the first", () => {
    expect(again).toMatchObject({ number: first.number, idempotencyKey: "once", endpoint: first.endpoint, gateway: 1 });
    expect([...claimsOf(notes)]).toEqual([
      ["gen-1", "once"],
      ["gen-2", "once"],
    ]);
  });

  test("the tally reports a key that is charged twice, and no second answer that the service pays for", () => {
    expect(tallied(1n).doubled).toEqual(["once"]);
    expect(tallied(0n)).toMatchObject({ doubled: [], lost: [] });
  });
});

describe("recovery", () => {
  const customer = { workspace: "w", kind: "plenty" } as const;
  const call = (sentAt: number, fields: Partial<ClientCall>): ClientCall => {
    const facts = { sentAt, answeredAt: sentAt + 5, endedAt: sentAt + 5, status: 200, whole: true };
    return { ...newCall({ customer, key: "k", streamed: false, gateway: 0 }), ...facts, ...fields };
  };
  const every100 = (from: number, to: number, fields: Partial<ClientCall>) =>
    Array.from({ length: (to - from) / 100 }, (_, index) => call(from + index * 100, fields));

  test("the service is steady when every gateway gives only good answers for a whole second", () => {
    const calls = [
      ...every100(0, 4_000, { gateway: 0 }),
      ...every100(0, 2_000, { gateway: 1, status: 503, code: "billing_unavailable" }),
      ...every100(2_000, 4_000, { gateway: 1 }),
    ];
    expect(recoveryOf(calls, { healedAt: 0, until: 4_000, gateways: 2 })).toEqual({ firstMs: 5, steadyMs: 2_000 });
    expect(recoveryOf(calls, { healedAt: 0, until: 2_500, gateways: 2 }).steadyMs).toBeNull();
  });

  test("the service is not steady while a gateway serves no request", () => {
    const calls = every100(0, 4_000, { gateway: 0 });
    expect(recoveryOf(calls, { healedAt: 0, until: 4_000, gateways: 2 }).steadyMs).toBeNull();
  });
});
