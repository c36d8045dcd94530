/** A load generator in its own process, which stays warm between loads. It costs the same for every contender, and its cost is known. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { shareCore } from "../../scripts/services/share-core.ts";
import type { LoadAnswer } from "../load/serve.ts";
import type { Result } from "../load/tally.ts";
import { readLoadArguments, timesOf } from "../load/load-arguments.ts";
import { root } from "../paths.ts";
import { inherited } from "../processes/child.ts";
import { usageOf } from "../processes/usage.ts";

export interface Loaded {
  result: Result;
  /** The CPU time of the generator itself. */
  cpuSeconds: number;
}

export interface Loading {
  onProgress?(line: string): void;
  /** Whether it runs on the shared core (see `shareCore`). */
  sharesCore?: boolean;
}

const linesKept = 20;
/** Time beyond that of the load's arguments, for starting and for making the requests of all keys. */
const slackMs = 30_000;
const stopMsMax = 5_000;

export class LoadGenerator implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Resolves to the way it ended. */
  readonly #ended: Promise<string>;
  /** Its last lines of output, for error messages. */
  readonly #lastLines: string[] = [];
  /** Receives the next reply. */
  #onReply: ((line: string) => void) | null = null;

  constructor({ onProgress, sharesCore }: Loading = {}) {
    const options = { cwd: root, env: inherited() };
    this.#child = spawn(process.execPath, ["bench/load/main.ts"], { ...options, stdio: ["pipe", "pipe", "pipe"] });
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => resolve(signal ?? `code ${code}`));
      this.#child.once("error", ({ message }) => resolve(message));
    });
    // The end of the process reports the failure of a write.
    this.#child.stdin.on("error", () => {});
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#onReply?.(line));
    createInterface({ input: this.#child.stderr }).on("line", (line) => {
      this.#lastLines.push(line);
      if (this.#lastLines.length > linesKept) this.#lastLines.shift();
      onProgress?.(line);
    });
    if (sharesCore) shareCore([this.pid]);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Runs one load; only one at a time. @param words the arguments of `npm run bench -- load`. @throws Error without a result */
  async load(words: string[]): Promise<Loaded> {
    const { warmUpSeconds, seconds, timeoutSeconds } = timesOf(readLoadArguments(words));
    const before = usageOf(this.pid).cpuSeconds;
    const answered = new Promise<string>((resolve) => (this.#onReply = resolve));
    this.#child.stdin.write(`${JSON.stringify(words)}\n`);
    const line = await this.#within(answered, (warmUpSeconds + seconds + timeoutSeconds) * 1_000 + slackMs);
    const answer = JSON.parse(line) as LoadAnswer;
    if ("error" in answer) throw new Error(`The load generator gave no result: ${answer.error}`);
    return { result: answer.result, cpuSeconds: usageOf(this.pid).cpuSeconds - before };
  }

  async #within(answered: Promise<string>, limitMs: number): Promise<string> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`The load generator gave no result within ${limitMs} ms`)), limitMs);
    const ended = this.#ended.then((how) => {
      throw new Error([`The load generator ended without a result (${how})`, ...this.#lastLines].join("\n"));
    });
    try {
      return await Promise.race([answered, ended, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes its input, at which it ends, and kills it when that takes too long. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), stopMsMax);
    await this.#ended;
    clearTimeout(late);
  }
}
