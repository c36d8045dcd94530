/**
 * Two libraries behind one interface: Bun's own client on Bun, where a call takes 5 µs in place of the 15 µs that clients in
 * JavaScript need; the package `redis` on other runtimes and where a caller chooses it. test/contracts/counters.ts holds both.
 */
import type { Secret } from "../../kernel/secret.ts";

/** One connection to Redis, which never connects again. */
export interface RedisClient {
  /** The first command waits until the connection stands. @throws Error of Redis, or of the connection once it is lost */
  send(command: string, parameters: readonly (string | Buffer)[]): Promise<unknown>;
  /** Fails the commands that are under way. */
  close(): void;
}

export interface RedisClientOptions {
  url: Secret;
  connectMsMax: number;
  /** The connection is lost, or could not be made; called at most once, before its commands fail, and not after `close`. */
  closed(reason: unknown): void;
}

/** Begins to connect. @throws Error when the URL is not one of Redis */
export type ConnectRedis = (options: RedisClientOptions) => RedisClient;

export const redisLibraries = ["bun", "redis"] as const;
export type RedisLibrary = (typeof redisLibraries)[number];

/** Loads one library only: Bun's does not exist elsewhere, and the package takes memory. */
export async function loadRedisClient(
  library: RedisLibrary = typeof Bun === "undefined" ? "redis" : "bun",
): Promise<ConnectRedis> {
  if (library === "bun") return (await import("./bun-client.ts")).connectBunClient;
  return (await import("./package-client.ts")).connectPackageClient;
}
