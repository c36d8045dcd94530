/** The service on a runtime other than Bun: one process, or a fleet of a gateway and three workers. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ServiceUrls } from "../../../scripts/services.ts";
import { operatorToken } from "../servers/fleet.ts";
import { copyEmbeddedDatabase } from "../servers/prepared-databases.ts";
import { Operator } from "../operator.ts";
import { OurProcess, repository } from "./process.ts";
import { secretsKeyNamed } from "../secrets-key.ts";
import { stubKeyEnv } from "../providers/stub-catalog.ts";

/** The program itself and not its starter, so that a signal ends it; null if there is none for this platform. */
export const deno: string | null = findDeno();

/**
 * Deno downloads nothing and uses the installed packages. The lock on the data folder reads /proc, for which Deno demands all
 * rights. The embedded database's best code pays only in a process that lives for minutes.
 */
const run = [
  "run",
  "--no-lock",
  "--no-remote",
  "--cached-only",
  "--node-modules-dir=manual",
  "--no-check",
  "--allow-all",
  "--v8-flags=--liftoff-only",
];

/**
 * What Deno makes of the sources, for later runs too: to make it again costs more CPU time than the tests. It knows each file's contents.
 */
const denoCache = join(repository, "node_modules/.cache/weir/deno");

export interface DenoPlan {
  folder: string;
  catalogDir: string;
  /** The servers of a fleet; absent: one process with everything in it. */
  services?: ServiceUrls;
}

export class DenoService implements AsyncDisposable {
  readonly url: string;
  readonly operator: Operator;
  readonly #processes: OurProcess[];

  private constructor(processes: OurProcess[], port: string) {
    this.#processes = processes;
    this.url = `http://127.0.0.1:${port}`;
    this.operator = new Operator(this.url, operatorToken);
  }

  /** Resolves when the gateway listens. */
  static async start({ folder, catalogDir, services }: DenoPlan): Promise<DenoService> {
    if (!services) await copyEmbeddedDatabase(join(folder, "data/postgres"));
    const environment = {
      PORT: "0",
      DATA_DIR: join(folder, "data"),
      DENO_DIR: denoCache,
      DENO_NO_UPDATE_CHECK: "1",
      CATALOG_DIR: catalogDir,
      OPERATOR_TOKEN: operatorToken,
      LOG_LEVEL: "warn",
      [stubKeyEnv]: "any",
      ...(services && { ...services, SECRETS_KEY: secretsKeyNamed("deno") }),
    };
    const start = (...words: string[]): OurProcess =>
      new OurProcess({ program: deno ?? "deno", arguments: [...run, ...words], environment });
    const gateway = start("test/support/processes/deno-app.ts");
    const processes = [gateway];
    try {
      const output = await gateway.says(/listening on port \d+/, 60_000);
      // Started with the gateway, in a fresh clone each would make of the sources what it then finds in the cache.
      for (const kind of services ? ["admission", "metering", "prober"] : []) processes.push(start("workers/main.ts", kind));
      return new DenoService(processes, /listening on port (\d+)/.exec(output)?.[1] ?? "");
    } catch (error) {
      for (const process of processes) await process[Symbol.asyncDispose]();
      throw error;
    }
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) await process[Symbol.asyncDispose]();
  }
}

function findDeno(): string | null {
  const packages = join(repository, "node_modules/@deno");
  const programs = existsSync(packages) ? readdirSync(packages).map((name) => join(packages, name, "deno")) : [];
  return programs.find((program) => existsSync(program)) ?? null;
}
