import { spawn, type ChildProcess } from "node:child_process";
import { shareCore } from "../services/share-core.ts";

export interface ProcessPlan {
  name: string;
  /** The arguments of Bun. */
  command: string[];
  cwd: string;
  environment: NodeJS.ProcessEnv;
  /** Whether it runs on the core of NATS and Redis. */
  sharesCore: boolean;
  say(line: string): void;
}

const backOffMsMin = 200;
const backOffMsMax = 5_000;
/** A process that ran this long died of a new cause: it restarts without a longer pause. */
const soundMs = 30_000;

/** A process that is restarted when it dies, until `stop` or `kill`. */
export class SupervisedProcess {
  readonly #plan: ProcessPlan;
  #child: ChildProcess | null = null;
  #stopping = false;
  #backOffMs = backOffMsMin;
  #again: ReturnType<typeof setTimeout> | null = null;

  constructor(plan: ProcessPlan) {
    this.#plan = plan;
    this.#start();
  }

  /** Sends SIGTERM, and SIGKILL after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#stopping = true;
    if (this.#again !== null) clearTimeout(this.#again);
    const child = this.#child;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGTERM");
    const late = setTimeout(() => {
      this.#plan.say(`${this.#plan.name} did not end within ${limitMs / 1_000} s: killing it`);
      child.kill("SIGKILL");
    }, limitMs);
    await ended;
    clearTimeout(late);
  }

  /** Kills it without a restart. */
  kill(): void {
    this.#stopping = true;
    this.#child?.kill("SIGKILL");
  }

  #start(): void {
    const { command, cwd, environment, sharesCore } = this.#plan;
    const startedMs = performance.now();
    // Its own process group: Ctrl-C in a terminal reaches only the supervisor, which stops its processes in order.
    const child = spawn(process.execPath, command, {
      argv0: "bun",
      cwd,
      env: environment,
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
    });
    this.#child = child;
    if (sharesCore && child.pid !== undefined) shareCore([child.pid]);
    child.once("error", () => this.#ended(startedMs, "it did not start"));
    child.once("exit", (code, signal) => this.#ended(startedMs, signal ?? `exit code ${code}`));
  }

  #ended(startedMs: number, how: string): void {
    this.#child = null;
    if (this.#stopping) return;
    if (performance.now() - startedMs > soundMs) this.#backOffMs = backOffMsMin;
    this.#plan.say(`${this.#plan.name} ended (${how}): restarting in ${this.#backOffMs} ms`);
    this.#again = setTimeout(() => this.#start(), this.#backOffMs);
    this.#backOffMs = Math.min(this.#backOffMs * 2, backOffMsMax);
  }
}
