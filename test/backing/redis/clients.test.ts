/** Both clients behind the port do what a link needs of one. */
import { createHash } from "node:crypto";
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { connectBunClient } from "../../../src/backing/redis/bun-client.ts";
import type { ConnectRedis, RedisClient } from "../../../src/backing/redis/connection.ts";
import { connectPackageClient } from "../../../src/backing/redis/package-client.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { failureOf } from "../../support/failure-of.ts";
import { openTestRedis } from "../../support/servers/redis.ts";
import { until } from "../../support/until.ts";

const server = await openTestRedis();

const clients: [string, ConnectRedis][] = [
  ["Bun's own", connectBunClient],
  ["the package `redis`", connectPackageClient],
];

describe.skipIf(server === null)("a client of Redis", () => {
  afterAll(() => server?.stop());

  describe.each(clients)("%s", (_name, connect) => {
    let reasons: unknown[];
    beforeEach(() => void (reasons = []));

    function open(url = server?.url ?? ""): RedisClient {
      return connect({ url: new Secret(url), connectMsMax: 1_000, closed: (reason) => void reasons.push(reason) });
    }

    test("sends bytes unchanged, and reads texts, numbers, lists and nothing", async () => {
      const client = open();
      const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte));
      const digest = createHash("sha1").update(bytes).digest("hex");
      const script = "return { redis.sha1hex(ARGV[1]), 7, { 'inner' }, false }";
      expect(await client.send("PING", [])).toBe("PONG");
      expect(await client.send("EVAL", [script, "0", bytes])).toEqual([digest, 7, ["inner"], null]);
      client.close();
    });

    test("rejects with an error of Redis in its own words, and goes on", async () => {
      const client = open();
      expect(await failureOf(client.send("FCALL", ["none", "0"]))).toMatchObject({ message: "ERR Function not found" });
      expect(await client.send("PING", [])).toBe("PONG");
      client.close();
      expect(reasons).toEqual([]);
    });

    test("a connection that is lost fails what waits, is named once and not made again", async () => {
      const client = open();
      const id = String(await client.send("CLIENT", ["ID"]));
      const waiting = failureOf(client.send("BLPOP", ["nothing", "0"]));
      const other = open();
      await other.send("CLIENT", ["KILL", "ID", id]);
      expect(await waiting).toBeInstanceOf(Error);
      expect(await failureOf(client.send("PING", []))).toBeInstanceOf(Error);
      await until(() => reasons.length > 0);
      expect(reasons).toHaveLength(1);
      other.close();
    });

    test("closing fails what waits, and names no loss", async () => {
      const client = open();
      await client.send("PING", []);
      const waiting = failureOf(client.send("BLPOP", ["nothing", "0"]));
      client.close();
      expect(await waiting).toBeInstanceOf(Error);
      expect(reasons).toEqual([]);
    });
  });
});
