/**
 * A server process on loopback, for tests and for a fleet on one machine.
 *
 * Its port, and so its URL, stays the same across restarts, and it ends with this process. A start waits until the server answers. A server
 * that ends meanwhile is started again, more often if a killed predecessor may still hold its port. An error includes the last lines of the
 * server's log, because the log's folder is often gone when the error is read.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { killWithParent, environmentOf, type Program } from "./program.ts";

interface ServerPlan {
  /** Used in errors and logs. */
  name: string;
  program: Program;
  arguments: string[];
  /** In addition to this process's own. */
  environment?: Record<string, string>;
  /** Precedes the program, and executes it. */
  prefix?: string[];
  /** The folder of its log. */
  folder: string;
  port: number;
  url: string;
  /** Its user; null: this process's. */
  user: { uid: number; gid: number } | null;
  /** Stops it gracefully. */
  stopSignal: NodeJS.Signals;
  /** Stops it at once with all its processes. */
  abortSignal: NodeJS.Signals;
  /** Rejects while it does not answer; it is then retried. */
  ready(): Promise<void>;
}

const startMsMax = 60_000;
const stopMsMax = 10_000;
/** Attempts while a killed predecessor may still hold the port or the data. */
const heldAttemptsMax = 20;
/** What each server says then. */
const held = /in use|already exists/i;
/** Attempts for a server that ends for another reason, which will likely recur. */
const endedAttemptsMax = 3;
const pauseMs = 20;
const lastLinesMax = 3;
const lastWordsMax = 400;

/** A server process on loopback. Its port, and so its URL, stays the same across restarts. */
export class Server implements AsyncDisposable {
  static readonly #running = new Set<Server>();
  readonly #plan: ServerPlan;
  #child: ChildProcess | null = null;
  /** How its last process ended, such as "ended with exit code 1". */
  #end = "";
  /** The length of its log when that process began. */
  #logStart = 0;

  private constructor(plan: ServerPlan) {
    this.#plan = plan;
  }

  /** @throws ServerError that names the program, how it ended and the last words of its log */
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

  /** Stops it gracefully, or by force if that takes too long. */
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

  async #start(): Promise<void> {
    const deadline = performance.now() + startMsMax;
    for (let attempt = 1, attemptsMax = 1; attempt <= attemptsMax; attempt++) {
      const gone = this.#launch();
      while (this.#child !== null && performance.now() < deadline) {
        const ready = this.#plan.ready().then(
          () => true,
          () => false,
        );
        // Does not wait for a server that has ended: one try may take seconds.
        const answered = await Promise.race([ready, gone]);
        if (answered && this.#child !== null) return;
        await sleep(pauseMs);
      }
      if (this.#child !== null) break;
      attemptsMax = held.test(this.#log()) ? heldAttemptsMax : endedAttemptsMax;
      await sleep(pauseMs * attempt);
    }
    const how = this.#child === null ? this.#end : `did not answer on port ${this.port} within ${startMsMax / 1_000} s`;
    await this.kill("SIGKILL");
    throw new ServerError(`Cannot start ${this.name}: ${this.#plan.program.path} ${how}, and ${this.#lastWords()}`);
  }

  /** Resolves, to false, when the process has ended. */
  #launch(): Promise<false> {
    const { program, environment, prefix = [], user, abortSignal, folder } = this.#plan;
    mkdirSync(folder, { recursive: true });
    const log = openSync(this.#logPath(), "a");
    this.#logStart = fstatSync(log).size;
    const [command = "", ...rest] = [...killWithParent(abortSignal), ...prefix, program.path, ...this.#plan.arguments];
    const child = spawn(command, rest, {
      stdio: ["ignore", log, log],
      env: { ...environmentOf(program), ...environment },
      cwd: folder,
      detached: true,
      ...user,
    });
    closeSync(log);
    child.unref(); // a finished test must not wait for its servers
    this.#child = child;
    Server.#running.add(this);
    return new Promise((resolve) => {
      const gone = (how: string) => {
        this.#end = how;
        if (this.#child === child) this.#child = null;
        Server.#running.delete(this);
        resolve(false);
      };
      child.once("exit", (code, signal) => gone(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`));
      child.once("error", (error) => gone(`cannot be run (${error.message})`));
    });
  }

  #logPath(): string {
    return join(this.#plan.folder, "server.log");
  }

  /** What its last process wrote. */
  #log(): string {
    return existsSync(this.#logPath()) ? readFileSync(this.#logPath()).subarray(this.#logStart).toString() : "";
  }

  #lastWords(): string {
    const lines = this.#log().split("\n");
    const last = lines.map((line) => line.trim()).filter((line) => line !== "");
    if (last.length === 0) return `its log "${this.#logPath()}" is empty`;
    return `its log "${this.#logPath()}" ends with: ${last.slice(-lastLinesMax).join("; ").slice(-lastWordsMax)}`;
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

/**
 * Creates a server's folder and, on first use, its password, because other users of this machine can reach loopback.
 * @param owner the server's user; null: this process's
 * @param first its password if it has none yet; by default a new one
 */
export async function openFolder(
  folder: string,
  owner: { uid: number; gid: number } | null,
  first = randomBytes(24).toString("hex"),
): Promise<Record<"home" | "password", string>> {
  const home = resolve(folder);
  await mkdir(home, { recursive: true });
  await chmod(home, 0o700);
  if (owner !== null) await chown(home, owner.uid, owner.gid);
  const path = join(home, "password");
  const password = (await readFile(path, "utf8").catch(() => "")) || first;
  await writeFile(path, password, { mode: 0o600 });
  if (owner !== null) await chown(path, owner.uid, owner.gid);
  return { home, password };
}

/** Why a server cannot start on this machine, in one sentence for the operator. */
export class ServerError extends Error {
  override name = "ServerError";
}
