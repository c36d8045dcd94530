/** A process of the service as a user would start it, with its output kept. */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { bunEnvironment } from "../../../scripts/bootstrap/bun-environment.mjs";
import { until } from "../until.ts";

export const repository = join(import.meta.dir, "../../..");
export const bun = join(repository, "node_modules/.bin/bun");

export interface ProcessPlan {
  /** Default: Bun. */
  program?: string;
  /** Such as `["src/main.ts"]`. */
  arguments: string[];
  environment: NodeJS.ProcessEnv;
  /** Where it runs. Default: this repository. */
  cwd?: string;
}

export class OurProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  #output = "";

  constructor({ program = bun, arguments: words, environment, cwd = repository }: ProcessPlan) {
    const inherited = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };
    this.#child = spawn(program, words, {
      cwd,
      env: { ...inherited, ...bunEnvironment, NODE_ENV: "production", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.on("data", (chunk) => (this.#output += String(chunk)));
    this.#exited = new Promise((resolve) => this.#child.once("exit", (code) => resolve(code)));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Standard output and error so far. */
  get output(): string {
    return this.#output;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves with the exit code; null after a signal. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }

  /** Resolves when the output contains this text. */
  async says(text: string | RegExp, waitMs = 50_000): Promise<string> {
    const has = (): boolean => (typeof text === "string" ? this.#output.includes(text) : text.test(this.#output));
    await until(() => has() || !this.running, waitMs);
    if (!has()) throw new Error(`The process never printed ${String(text)}:\n${this.#output}`);
    return this.#output;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Kills it and waits for its end. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGCONT");
    await this.kill();
  }
}
