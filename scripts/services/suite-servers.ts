/** The servers of `npm test`: one PostgreSQL for all suites, and for each suite a database, a NATS and a Redis of its own. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServiceUrls } from "../services.ts";
import type { Servers } from "./find-servers.ts";
import { startNats } from "./nats.ts";
import { createDatabase, startPostgres } from "./postgres.ts";
import { startRedis } from "./redis.ts";
import type { Server } from "./server.ts";

export interface UrlsOfSuite extends AsyncDisposable {
  urls: ServiceUrls;
}

export class SuiteServers implements AsyncDisposable {
  readonly #servers: Servers;
  readonly #folder: string;
  readonly #postgres: Server;

  private constructor(servers: Servers, folder: string, postgres: Server) {
    this.#servers = servers;
    this.#folder = folder;
    this.#postgres = postgres;
  }

  static async start(servers: Servers): Promise<SuiteServers> {
    const folder = await mkdtemp(join(tmpdir(), "weir-suites-"));
    await chmod(folder, 0o711); // PostgreSQL may run as another user.
    const postgres = await startPostgres({ program: servers.postgres, folder: join(folder, "postgres") });
    return new SuiteServers(servers, folder, postgres);
  }

  /** Fleets of two suites never share a bus, a Redis or a database. */
  async forSuite(name: string): Promise<UrlsOfSuite> {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ program: this.#servers.nats, folder: join(this.#folder, name, "nats") }));
    const redis = stack.use(await startRedis({ program: this.#servers.redis, folder: join(this.#folder, name, "redis") }));
    const database = new URL(this.#postgres.url);
    database.pathname = `/suite_${name}`;
    await createDatabase(this.#postgres.url, `suite_${name}`);
    const kept = stack.move();
    return {
      urls: { DATABASE_URL: database.href, NATS_URL: nats.url, REDIS_URL: redis.url },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#postgres.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
