/** A load generator as a process of its own, warm from load to load: it costs the same beside every contender, and its cost is known. */
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
  /** What the generator itself used for it. */
  cpuSeconds: number;
}

export interface Loading {
  onProgress?(line: string): void;
  /** Where `shareCore` puts it. */
  sharesCore?: boolean;
}

const linesKept = 20;
/** Beyond the time that a load's own words give it: to start, and to make the requests of all keys. */
const slackMs = 30_000;
const stopMsMax = 5_000;

export class LoadGenerator implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Resolves to how it ended. */
  readonly #ended: Promise<string>;
  /** Its last lines, for an error to be told whole. */
  readonly #said: string[] = [];
  /** Who waits for the next answer. */
  #answer: ((line: string) => void) | null = null;

  constructor({ onProgress, sharesCore }: Loading = {}) {
    const options = { cwd: root, env: inherited() };
    this.#child = spawn(process.execPath, ["bench/load/main.ts"], { ...options, stdio: ["pipe", "pipe", "pipe"] });
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => resolve(signal ?? `code ${code}`));
      this.#child.once("error", ({ message }) => resolve(message));
    });
    // Who writes to one that died is told by its end.
    this.#child.stdin.on("error", () => {});
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#answer?.(line));
    createInterface({ input: this.#child.stderr }).on("line", (line) => {
      this.#said.push(line);
      if (this.#said.length > linesKept) this.#said.shift();
      onProgress?.(line);
    });
    if (sharesCore) shareCore([this.pid]);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** One at a time. @param words as after `npm run bench -- load`. @throws Error when there is no result */
  async load(words: string[]): Promise<Loaded> {
    const { warmUpSeconds, seconds, timeoutSeconds } = timesOf(readLoadArguments(words));
    const before = usageOf(this.pid).cpuSeconds;
    const answered = new Promise<string>((resolve) => (this.#answer = resolve));
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
      throw new Error([`The load generator ended without a result (${how})`, ...this.#said].join("\n"));
    });
    try {
      return await Promise.race([answered, ended, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** With nothing more to be asked for it ends by itself; by force where that takes too long. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), stopMsMax);
    await this.#ended;
    clearTimeout(late);
  }
}
