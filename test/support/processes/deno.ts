/** The service on another runtime than Bun, as a process. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { operatorToken } from "../servers/fleet.ts";
import { Operator } from "../operator.ts";
import { OurProcess, repository } from "./process.ts";
import { stubKeyEnv } from "../providers/stub-catalog.ts";

/** The program itself and not its starter, so that a signal ends it; null: there is none for this platform. */
export const deno: string | null = findDeno();

/** Nothing is fetched: what is installed must do. The lock on the data folder looks at /proc, for which Deno wants all rights. */
const run = ["run", "--no-lock", "--no-remote", "--cached-only", "--node-modules-dir=manual", "--no-check", "--allow-all"];

export class DenoService implements AsyncDisposable {
  readonly url: string;
  readonly operator: Operator;
  readonly #process: OurProcess;

  private constructor(process: OurProcess, port: string) {
    this.#process = process;
    this.url = `http://127.0.0.1:${port}`;
    this.operator = new Operator(this.url, operatorToken);
  }

  /** Resolves when it listens. */
  static async start(plan: { folder: string; catalogDir: string }): Promise<DenoService> {
    const process = new OurProcess({
      program: deno ?? "deno",
      arguments: [...run, "test/support/processes/deno-app.ts"],
      environment: {
        PORT: "0",
        DATA_DIR: join(plan.folder, "data"),
        DENO_DIR: join(plan.folder, "deno"),
        DENO_NO_UPDATE_CHECK: "1",
        CATALOG_DIR: plan.catalogDir,
        OPERATOR_TOKEN: operatorToken,
        LOG_LEVEL: "warn",
        [stubKeyEnv]: "any",
      },
    });
    try {
      const output = await process.says(/listening on port \d+/, 60_000);
      return new DenoService(process, /listening on port (\d+)/.exec(output)?.[1] ?? "");
    } catch (error) {
      await process[Symbol.asyncDispose]();
      throw error;
    }
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process[Symbol.asyncDispose]();
  }
}

function findDeno(): string | null {
  const packages = join(repository, "node_modules/@deno");
  const programs = existsSync(packages) ? readdirSync(packages).map((name) => join(packages, name, "deno")) : [];
  return programs.find((program) => existsSync(program)) ?? null;
}
