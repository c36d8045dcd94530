/** What a link needs of a client library; load-client.ts chooses between two. */
import type { Secret } from "../../../kernel/secret.ts";

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
