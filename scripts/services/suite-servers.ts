/**
 * The servers of `npm test`: one PostgreSQL for the timed suites and a patient one for all others, and each suite's own database, NATS and
 * Redis.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/backing/migrate.ts";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { nameOfTemplate } from "../../test/support/servers/prepared-databases.ts";
import { bePatient } from "../be-patient.ts";
import type { ServiceUrls } from "../services.ts";
import type { Suite } from "../suites.ts";
import type { Servers } from "./find-servers.ts";
import { startNats } from "./nats.ts";
import { createDatabase, startPostgres } from "./postgres.ts";
import { startRedis } from "./redis.ts";
import type { Program } from "./program.ts";
import type { Server } from "./server.ts";

export interface UrlsOfSuite extends AsyncDisposable {
  urls: ServiceUrls;
}

const templateName = "postgres-template";

/** A stopped PostgreSQL whose database has the schema, as has the one that tests copy. */
async function makeTemplate(program: Program, folder: string): Promise<void> {
  await using server = await startPostgres({ program, folder });
  await migrateAt(server.url);
  await createDatabase(server.url, await nameOfTemplate(), new URL(server.url).pathname.slice(1));
}

async function migrateAt(url: string): Promise<void> {
  await using database = openPostgres({ url: new Secret(url), applicationName: "test", clock: systemClock });
  await migrate(database.sql);
}

export class SuiteServers implements AsyncDisposable {
  readonly #servers: Servers;
  readonly #folder: string;
  /** Two, so that the work of ordinary suites takes no CPU from the timed suites. */
  readonly #postgres: { timed: Server; ordinary: Server };

  /** The files that servers copy when tests start them. */
  readonly template: string;

  private constructor(servers: Servers, folder: string, postgres: { timed: Server; ordinary: Server }) {
    this.#servers = servers;
    this.#folder = folder;
    this.#postgres = postgres;
    this.template = join(folder, templateName);
  }

  static async start(servers: Servers): Promise<SuiteServers> {
    const folder = await mkdtemp(join(tmpdir(), "weir-suites-"));
    await chmod(folder, 0o711); // PostgreSQL may run as another user.
    const program = servers.postgres;
    const template = join(folder, templateName);
    await makeTemplate(program, template);
    const timed = await startPostgres({ program, template, folder: join(folder, "postgres") });
    const ordinary = await startPostgres({ program, template, folder: join(folder, "patient-postgres") });
    bePatient(ordinary);
    return new SuiteServers(servers, folder, { timed, ordinary });
  }

  /** Fleets of two suites never share a bus, a Redis or a database. */
  async forSuite({ name, isTimed }: Pick<Suite, "name" | "isTimed">): Promise<UrlsOfSuite> {
    const postgres = isTimed ? this.#postgres.timed : this.#postgres.ordinary;
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ program: this.#servers.nats, folder: join(this.#folder, name, "nats") }));
    const redis = stack.use(await startRedis({ program: this.#servers.redis, folder: join(this.#folder, name, "redis") }));
    const database = new URL(postgres.url);
    database.pathname = `/suite_${name}`;
    await createDatabase(postgres.url, `suite_${name}`);
    const kept = stack.move();
    return {
      urls: { DATABASE_URL: database.href, NATS_URL: nats.url, REDIS_URL: redis.url },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#postgres.timed.stop(), this.#postgres.ordinary.stop()]);
    await rm(this.#folder, { recursive: true, force: true });
  }
}
