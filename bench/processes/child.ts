/** A process of the bench. It ends with the bench, and its output goes to a file. */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bunEnvironment, endingWithParent } from "../../scripts/bootstrap/bun-environment.mjs";
import { dataFolder, root } from "../paths.ts";
import { until } from "../until.ts";

export interface ChildPlan {
  name: string;
  /** Default: the Bun that runs the bench. */
  program?: string;
  arguments: string[];
  environment?: Record<string, string>;
}

const stopMsMax = 45_000;
const tailCharacters = 1_500;
const running = new Set<Child>();

export class Child implements AsyncDisposable {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #logPath: string;
  readonly #ended: Promise<void>;

  constructor({ name, program = process.execPath, arguments: words, environment = {} }: ChildPlan) {
    this.name = name;
    mkdirSync(join(dataFolder, "logs"), { recursive: true });
    this.#logPath = join(dataFolder, "logs", `${name.replaceAll(" ", "-")}.log`);
    const log = openSync(this.#logPath, "w");
    this.#child = spawn(program, words, {
      cwd: root,
      env: { ...inherited(), ...environment },
      stdio: ["ignore", log, log],
      detached: true,
      ...(program === process.execPath ? { argv0: "bun" } : {}),
    });
    closeSync(log);
    running.add(this);
    this.#ended = new Promise((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.once("error", () => resolve());
    });
    void this.#ended.then(() => running.delete(this));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get output(): string {
    return readFileSync(this.#logPath, "utf8");
  }

  /** Waits until `serves` returns true. @throws Error with the end of its output when it does not */
  async ready(serves: () => boolean | Promise<boolean>, waitMs = 30_000): Promise<void> {
    try {
      await until(async () => !this.#alive() || (await serves()), waitMs);
    } catch (error) {
      throw new Error(`${this.name} does not serve; its output ends with:\n${this.output.slice(-tailCharacters)}`, {
        cause: error,
      });
    }
    if (!this.#alive()) throw new Error(`${this.name} ended; its output ends with:\n${this.output.slice(-tailCharacters)}`);
  }

  /** The port that the bench's own servers print. */
  async port(): Promise<number> {
    const printed = () => /^listening (\d+)$/m.exec(this.output)?.[1];
    await this.ready(() => printed() !== undefined);
    return Number(printed());
  }

  /** Stops it and its descendants until `resume`. */
  suspend(): void {
    if (this.#alive()) process.kill(-this.pid, "SIGSTOP");
  }

  resume(): void {
    if (this.#alive()) process.kill(-this.pid, "SIGCONT");
  }

  /** Sends SIGTERM, and SIGKILL when that takes too long. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#alive()) return;
    this.#child.kill("SIGTERM");
    // A suspended process ends only when it goes on.
    this.resume();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), stopMsMax);
    await this.#ended;
    clearTimeout(late);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #alive(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }
}

process.on("exit", () => {
  for (const child of running) child.kill();
});

/** The environment without variables of this shell, which could change results. Every contender on Bun gets the production settings. */
export function inherited(): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: process.env["HOME"] ?? "",
    NODE_ENV: "production",
    BUN_CONFIG_MAX_HTTP_REQUESTS: "16384",
    ...endingWithParent,
    ...bunEnvironment,
  };
}
