/** The parts of `npm run bench -- hosts`: hosts that end with the run, links of a known length, and ratios within a round. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { DelayedLink } from "../../bench/hosts/delayed-link.ts";
import { on, TwoHosts } from "../../bench/hosts/two-hosts.ts";
import { hostsTable } from "../../bench/parts/hosts.ts";
import { measured } from "./whole-facts.ts";

/** null: this machine has no namespaces for us; the reason is printed. */
function openHosts(): TwoHosts | null {
  try {
    return new TwoHosts();
  } catch (error) {
    console.error(`Tests with two hosts are skipped: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

const hosts = openHosts();

test.skipIf(hosts === null)(
  "two hosts reach each other by one cable and nothing else, and are gone when they are disposed",
  () => {
    if (hosts === null) throw new Error("There are no hosts");
    const routeTo = (address: string) => {
      const [program = "", ...words] = [...on(hosts.near), "ip", "route", "get", address];
      return spawnSync(program, words, { encoding: "utf8" });
    };
    expect(routeTo(hosts.farAddress).stdout).toContain("dev cable");
    expect(routeTo("192.0.2.1").status).not.toBe(0);
    hosts[Symbol.dispose]();
    expect([hosts.near, hosts.far].filter((name) => existsSync(`/run/netns/${name}`))).toEqual([]);
  },
);

describe("a delayed link", () => {
  test("bytes arrive in their order and so much later in each direction, to fractions of a millisecond", async () => {
    await using stack = new AsyncDisposableStack();
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
    await once(echo, "listening");
    stack.defer(() => void echo.close());
    const link = stack.use(await DelayedLink.open("127.0.0.1", (echo.address() as AddressInfo).port));
    const socket = connect({ port: link.port, host: "127.0.0.1", noDelay: true });
    stack.defer(() => void socket.destroy());
    let received = "";
    socket.on("data", (bytes) => (received += String(bytes)));
    const thereAndBackMs = async (text: string): Promise<number> => {
      received = "";
      const sentAt = performance.now();
      for (const letter of text) socket.write(letter);
      while (received.length < text.length) await once(socket, "data");
      expect(received).toBe(text);
      return performance.now() - sentAt;
    };
    link.onewayMs = 20;
    expect(await thereAndBackMs("abc")).toBeGreaterThanOrEqual(40);
    link.onewayMs = 0.5;
    const several = [];
    for (let n = 0; n < 20; n++) several.push(await thereAndBackMs("d"));
    expect(Math.min(...several)).toBeWithin(1, 2);
    link.onewayMs = 0;
    await thereAndBackMs("efg");
  });
});

test("a ratio is that to the shortest distance within its round, so that a machine that slows down between rounds does not change it", () => {
  const one = (round: number, distanceMs: number, perSecond: number) => {
    const made = measured("Weir", `${distanceMs} ms`);
    return { distanceMs, connections: 1, measurement: { ...made, round, result: { ...made.result, perSecond } } };
  };
  const table = hostsTable([one(1, 0, 1_000), one(1, 20, 500), one(2, 20, 50), one(2, 0, 100)]);
  expect(table.split("\n").at(-1)).toStartWith("| 1 | 20 ms | 275 | 0.5 |");
});
