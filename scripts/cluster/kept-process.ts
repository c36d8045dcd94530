import { spawn, type ChildProcess } from "node:child_process";
import { shareCore } from "../services/share-core.ts";

export interface ProcessPlan {
  name: string;
  /** What Bun is given. */
  command: string[];
  cwd: string;
  environment: NodeJS.ProcessEnv;
  /** With NATS and Redis. */
  sharesCore: boolean;
  say(line: string): void;
}

const backOffMsMin = 200;
const backOffMsMax = 5_000;
/** A process that ran this long died of something new: it is back at once. */
const soundMs = 30_000;

/** A process that is started again when it dies, until it is told to stop. */
export class KeptProcess {
  readonly #plan: ProcessPlan;
  #child: ChildProcess | null = null;
  #stopping = false;
  #backOffMs = backOffMsMin;
  #again: ReturnType<typeof setTimeout> | null = null;

  constructor(plan: ProcessPlan) {
    this.#plan = plan;
    this.#start();
  }

  /** Asks it to end; by force after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#stopping = true;
    if (this.#again !== null) clearTimeout(this.#again);
    const child = this.#child;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGTERM");
    const late = setTimeout(() => {
      this.#plan.say(`${this.#plan.name} did not end within ${limitMs / 1_000} s: it is killed`);
      child.kill("SIGKILL");
    }, limitMs);
    await ended;
    clearTimeout(late);
  }

  /** Ends it at once and for good. */
  kill(): void {
    this.#stopping = true;
    this.#child?.kill("SIGKILL");
  }

  #start(): void {
    const { command, cwd, environment, sharesCore } = this.#plan;
    const startedMs = performance.now();
    // A group of its own: a terminal's Ctrl-C is for the supervisor, which stops its processes in order.
    const child = spawn(process.execPath, command, {
      argv0: "bun",
      cwd,
      env: environment,
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
    });
    this.#child = child;
    if (sharesCore && child.pid !== undefined) shareCore([child.pid]);
    child.once("error", () => this.#ended(startedMs, "it could not be started"));
    child.once("exit", (code, signal) => this.#ended(startedMs, signal ?? `exit code ${code}`));
  }

  #ended(startedMs: number, how: string): void {
    this.#child = null;
    if (this.#stopping) return;
    if (performance.now() - startedMs > soundMs) this.#backOffMs = backOffMsMin;
    this.#plan.say(`${this.#plan.name} ended (${how}): started again in ${this.#backOffMs} ms`);
    this.#again = setTimeout(() => this.#start(), this.#backOffMs);
    this.#backOffMs = Math.min(this.#backOffMs * 2, backOffMsMax);
  }
}
