/** Reads SBOMs without holding the event loop: small ones at once, large ones in processes of their own, some at a time. */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Clock } from "../kernel/clock.ts";
import { sbomReadersMax, sbomReadersWaitingMax, sbomReadHereBytesMax, sbomReadMs } from "../limits/tools.ts";
import { Turns } from "../process/turns.ts";
import { SbomRefusal } from "./refusal.ts";
import { takenOf } from "./taken-lines.ts";
import { takeSbom, type SentSbom, type TakenBody } from "./take-sbom.ts";

/** There are too many documents to read at present; the same one may be sent again later. */
export class SbomReaderBusyError extends Error {
  override name = "SbomReaderBusyError";
}

const program = fileURLToPath(new URL("./reader-process.ts", import.meta.url));

export class SbomReader {
  readonly #clock: Clock;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @throws SbomReaderBusyError; SbomRefusal too_large where the document takes too long. Other refusals are in what it gives
   */
  async take(sent: SentSbom): Promise<TakenBody> {
    if (sent.bytes.length <= sbomReadHereBytesMax) return takeSbom(sent);
    const { taken, rest } = await this.readApart(program, [Buffer.from(`${JSON.stringify(sent.path)}\n`), sent.bytes]);
    return { taken, rest: taken === null ? sent.bytes : rest };
  }

  /**
   * Runs a program in its turn that takes the input on stdin and answers on stdout by `linesOf`.
   * @throws SbomReaderBusyError; SbomRefusal too_large where it takes too long
   */
  async readApart(path: string, input: readonly Uint8Array[]): Promise<TakenBody> {
    await this.#turn();
    try {
      return await this.#readInProcess(path, input);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    if (this.#running >= sbomReadersMax) {
      if (this.#waiting.length >= sbomReadersWaitingMax) {
        throw new SbomReaderBusyError("Too many SBOMs are being read at present; nothing was stored, so try again in a minute");
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running++;
  }

  async #readInProcess(path: string, input: readonly Uint8Array[]): Promise<TakenBody> {
    const reader = spawn(process.execPath, [path], { stdio: ["pipe", "pipe", "ignore"], env: {} });
    let late = false;
    const cancel = this.#clock.after(sbomReadMs, () => {
      late = true;
      reader.kill("SIGKILL");
    });
    try {
      return await answerOf(reader, input, new Turns(this.#clock));
    } catch (error) {
      if (!late) throw error;
      throw new SbomRefusal("too_large", `The document takes longer than ${sbomReadMs / 1_000} s to read; upload a smaller one`);
    } finally {
      cancel();
      reader.kill("SIGKILL");
    }
  }
}

/** @throws when it cannot be started, or ends before its answer does */
function answerOf(reader: ChildProcess, input: readonly Uint8Array[], turns: Turns): Promise<TakenBody> {
  return new Promise((resolve, reject) => {
    const { stdin, stdout } = reader;
    reader.on("error", reject);
    if (stdin === null || stdout === null) return;
    // One that ends early breaks this pipe too: the other end says so.
    stdin.on("error", () => {});
    for (const piece of input) stdin.write(piece);
    stdin.end();
    takenOf(stdout, turns).then(resolve, reject);
  });
}
