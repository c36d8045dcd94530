/** Reads SBOMs without holding the event loop: small ones at once, large ones in processes of their own, some at a time. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import {
  sbomReadHereBytesMax,
  sbomReadMs,
  sbomReaderWaitMs,
  sbomReadersMax,
  sbomReadersPerWorkspaceMax,
  sbomReadersWaitingMax,
  sbomReadersWaitingPerWorkspaceMax,
  toolsBodyBytesMax,
} from "../../limits.ts";
import type { DiskSpaceGuard } from "../../../accounts/quotas/disk-space-guard.ts";
import { FairSemaphore } from "../../../accounts/quotas/fair-semaphore.ts";
import { subprocessesMax, spawnSubprocess } from "../../../process/spawn-subprocess.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { SbomRefusal } from "../refusal.ts";
import { spool, type Pieces } from "./spool-file.ts";
import { decodeBody } from "./subprocess-codec.ts";
import { parseSbomField, type SbomPath, type ParsedBody } from "./parse-sbom-field.ts";

const program = fileURLToPath(new URL("./reader-process.ts", import.meta.url));
const busy = "Too many SBOMs are being read at present (sbomReadersMax); nothing was stored, so try again in a minute";
const readerTurns = {
  runningMax: Math.min(sbomReadersMax, subprocessesMax),
  runningPerHolderMax: sbomReadersPerWorkspaceMax,
  waitingMax: sbomReadersWaitingMax,
  waitingPerHolderMax: sbomReadersWaitingPerWorkspaceMax,
  waitMs: sbomReaderWaitMs,
};

interface ReaderParts {
  clock: Clock;
  /** Where documents wait that are not small. */
  folder: string;
  disk: Pick<DiskSpaceGuard, "require">;
}

interface IncomingBody {
  /** As they come, or as they came. */
  pieces: Pieces;
  path: SbomPath;
  workspace: WorkspaceId;
  /** Awaited once all of it has arrived, before it is read; told whether it is more than is read here. */
  arrived?: (large: boolean) => Promise<void>;
}

/** What goes to a process on its stdin. */
type Sent = { fd: number } | { pieces: readonly Uint8Array[] };

export class SbomReader {
  readonly #parts: ReaderParts;
  readonly #semaphore: FairSemaphore;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.#semaphore = new FairSemaphore({ clock: parts.clock, limits: readerTurns, busy });
  }

  /**
   * @throws LimitReachedError where too many documents are being read, or the disk is full; SbomRefusal too_large where the document
   *   takes too long, or the body has more than 1 MiB beside it; what reading the pieces throws. Other refusals are in what it gives
   */
  async take({ pieces, path, workspace, arrived }: IncomingBody): Promise<ParsedBody> {
    await this.requireDisk();
    const { beginning, rest } = await begunOf(pieces);
    if (rest === null) {
      await arrived?.(false);
      return parseSbomField({ bytes: Buffer.concat(beginning), path });
    }
    const head = Buffer.from(`${JSON.stringify(path)}\n`);
    await using file = await spool(allOf([head, ...beginning], rest), this.#parts.folder);
    await arrived?.(true);
    const body = await this.#readInTurn(program, { fd: file.fd }, workspace);
    if (body.rest.length > toolsBodyBytesMax) throw tooMuchBeside(body, path ?? []);
    return body;
  }

  /** @throws LimitReachedError 503 where the disk has no room for another document */
  requireDisk(): Promise<void> {
    return this.#parts.disk.require();
  }

  /**
   * Runs a program in the workspace's turn that takes the input on stdin and answers on stdout by `encodeBody`.
   * @throws LimitReachedError; SbomRefusal too_large where it takes too long
   */
  readInSubprocess(
    path: string,
    { input, workspace }: { input: readonly Uint8Array[]; workspace: WorkspaceId },
  ): Promise<ParsedBody> {
    return this.#readInTurn(path, { pieces: input }, workspace);
  }

  async #readInTurn(path: string, sent: Sent, workspace: WorkspaceId): Promise<ParsedBody> {
    const release = await this.#semaphore.acquire(workspace);
    try {
      return await this.#readInProcess(path, sent);
    } finally {
      release();
    }
  }

  async #readInProcess(path: string, sent: Sent): Promise<ParsedBody> {
    const { clock } = this.#parts;
    const reader = spawnSubprocess(path, "fd" in sent ? sent.fd : "pipe");
    let late = false;
    const cancel = clock.after(sbomReadMs, () => {
      late = true;
      reader.kill("SIGKILL");
    });
    try {
      return await answerOf(reader, "fd" in sent ? null : sent.pieces, new EventLoopYielder(clock));
    } catch (error) {
      if (!late) throw error;
      throw new SbomRefusal("too_large", `The document takes longer than ${sbomReadMs / 1_000} s to read; upload a smaller one`);
    } finally {
      cancel();
      reader.kill("SIGKILL");
    }
  }
}

/** What may be read here, and what comes after it; null: nothing does. */
async function begunOf(
  pieces: Pieces,
): Promise<{ beginning: Uint8Array[]; rest: AsyncIterator<Uint8Array> | Iterator<Uint8Array> | null }> {
  const all = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  const beginning: Uint8Array[] = [];
  for (let bytes = 0; bytes <= sbomReadHereBytesMax;) {
    const { done, value } = await all.next();
    if (done) return { beginning, rest: null };
    beginning.push(value);
    bytes += value.length;
  }
  return { beginning, rest: all };
}

async function* allOf(
  beginning: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array> | Iterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* beginning;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function tooMuchBeside({ taken }: ParsedBody, path: readonly string[]): SbomRefusal {
  const place = path.join(".");
  const none = `There is no document at "${place}" in the body: without one, send at most ${toolsBodyBytesMax} bytes`;
  const some = `The body is too large: send at most ${toolsBodyBytesMax} bytes beside the document at "${place}"`;
  return new SbomRefusal("too_large", taken === null ? none : some);
}

/** @throws when it cannot be started, or ends before its answer does */
function answerOf(
  reader: ReturnType<typeof spawnSubprocess>,
  input: readonly Uint8Array[] | null,
  yielder: EventLoopYielder,
): Promise<ParsedBody> {
  return new Promise((resolve, reject) => {
    const { stdin, stdout } = reader;
    reader.on("error", reject);
    // One that ends early breaks this pipe too: the other end says so.
    if (stdin !== null && input !== null) pipeline(Readable.from(input), stdin).catch(() => {});
    decodeBody(stdout, yielder).then(resolve, reject);
  });
}
