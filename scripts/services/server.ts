import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { killWithParent } from "./kill-with-parent.ts";
import { environmentOf, type Program } from "./program.ts";

export interface ServerPlan {
  /** Used in errors and logs. */
  name: string;
  program: Program;
  arguments: string[];
  /** In addition to ours. */
  environment?: Record<string, string>;
  /** Precedes the program, and executes it. */
  prefix?: string[];
  /** The folder of its log. */
  folder: string;
  port: number;
  url: string;
  /** Its user; null: ours. */
  user: { uid: number; gid: number } | null;
  /** Stops it in an orderly way. */
  stopSignal: NodeJS.Signals;
  /** Stops it at once with all its processes. */
  abortSignal: NodeJS.Signals;
  /** Rejects as long as it does not answer; retried. */
  ready(): Promise<void>;
}

const startMsMax = 60_000;
const stopMsMax = 10_000;
const startAttemptsMax = 20;
const pauseMs = 20;
const logTailBytes = 2_000;

/** A server process on loopback. Its port, and so its URL, stays the same over restarts. */
export class Server implements AsyncDisposable {
  static readonly #running = new Set<Server>();
  readonly #plan: ServerPlan;
  #child: ChildProcess | null = null;

  private constructor(plan: ServerPlan) {
    this.#plan = plan;
  }

  /** @throws Error with the end of its log if it never answers */
  static async start(plan: ServerPlan): Promise<Server> {
    const server = new Server(plan);
    await server.#start();
    return server;
  }

  get name(): string {
    return this.#plan.name;
  }

  get url(): string {
    return this.#plan.url;
  }

  get port(): number {
    return this.#plan.port;
  }

  /** 0 while it is stopped. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Sends a signal; resolves when the process has ended, at once for SIGSTOP and SIGCONT. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    child.kill(signal);
    if (signal !== "SIGSTOP" && signal !== "SIGCONT") await ended(child);
  }

  /** Restarts it on the same port and data, after an orderly stop if it runs. */
  async restart(): Promise<void> {
    await this.stop();
    await this.#start();
  }

  /** Stops it in an orderly way, or by force if that takes too long. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    child.kill(this.#plan.stopSignal);
    child.kill("SIGCONT");
    const late = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
    await ended(child);
    clearTimeout(late);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** A killed predecessor may still hold the port or data, so an early exit is retried. */
  async #start(): Promise<void> {
    const deadline = performance.now() + startMsMax;
    for (let attempt = 1; attempt <= startAttemptsMax; attempt++) {
      this.#launch();
      while (this.#child !== null && performance.now() < deadline) {
        const answered = await this.#plan.ready().then(
          () => true,
          () => false,
        );
        if (answered && this.#child !== null) return;
        await sleep(pauseMs);
      }
      if (this.#child !== null) break;
      await sleep(pauseMs * attempt);
    }
    await this.kill("SIGKILL");
    throw new Error(`Cannot start ${this.name} on port ${this.port}; its log ends with:\n${this.#logTail()}`);
  }

  #launch(): void {
    const { program, environment, prefix = [], user, abortSignal, folder } = this.#plan;
    mkdirSync(folder, { recursive: true });
    const log = openSync(this.#logPath(), "a");
    const [command = "", ...rest] = [...killWithParent(abortSignal), ...prefix, program.path, ...this.#plan.arguments];
    const child = spawn(command, rest, {
      stdio: ["ignore", log, log],
      env: { ...environmentOf(program), ...environment },
      cwd: folder,
      detached: true,
      ...user,
    });
    closeSync(log);
    child.unref(); // A test that is done must not wait for its servers.
    this.#child = child;
    Server.#running.add(this);
    const gone = () => {
      if (this.#child === child) this.#child = null;
      Server.#running.delete(this);
    };
    child.once("exit", gone);
    child.once("error", gone);
  }

  #logPath(): string {
    return join(this.#plan.folder, "server.log");
  }

  #logTail(): string {
    return readFileSync(this.#logPath(), "utf8").slice(-logTailBytes);
  }

  static {
    process.on("exit", () => {
      for (const server of Server.#running) server.#child?.kill(server.#plan.abortSignal);
    });
  }
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve();
  child.ref();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}
