/** Reads SBOMs without holding the event loop: small ones at once, large ones in processes of their own, some at a time. */
import { spawn, type ChildProcess } from "node:child_process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import type { Clock } from "../kernel/clock.ts";
import { sbomReadersMax, sbomReadersWaitingMax, sbomReadHereBytesMax, sbomReadMs, toolsBodyBytesMax } from "../limits/tools.ts";
import { Turns } from "../process/turns.ts";
import { SbomRefusal } from "./refusal.ts";
import { takenOf } from "./taken-lines.ts";
import { takeSbom, type SbomPath, type TakenBody } from "./take-sbom.ts";

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
   * @throws SbomReaderBusyError; SbomRefusal too_large where the document takes too long, or the body has more than 1 MiB beside
   *   it. Other refusals are in what it gives
   */
  async take({ pieces, path }: { pieces: readonly Uint8Array[]; path: SbomPath }): Promise<TakenBody> {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (length <= sbomReadHereBytesMax) return takeSbom({ bytes: Buffer.concat(pieces), path });
    const body = await this.readApart(program, [Buffer.from(`${JSON.stringify(path)}\n`), ...pieces]);
    if (body.rest.length > toolsBodyBytesMax) throw tooMuchBeside(body, path ?? []);
    return body;
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

function tooMuchBeside({ taken }: TakenBody, path: readonly string[]): SbomRefusal {
  const place = path.join(".");
  const none = `There is no document at "${place}" in the body: without one, send at most ${toolsBodyBytesMax} bytes`;
  const some = `The body is too large: send at most ${toolsBodyBytesMax} bytes beside the document at "${place}"`;
  return new SbomRefusal("too_large", taken === null ? none : some);
}

/** @throws when it cannot be started, or ends before its answer does */
function answerOf(reader: ChildProcess, input: readonly Uint8Array[], turns: Turns): Promise<TakenBody> {
  return new Promise((resolve, reject) => {
    const { stdin, stdout } = reader;
    reader.on("error", reject);
    if (stdin === null || stdout === null) return;
    // One that ends early breaks this pipe too: the other end says so.
    pipeline(Readable.from(input), stdin).catch(() => {});
    takenOf(stdout, turns).then(resolve, reject);
  });
}
