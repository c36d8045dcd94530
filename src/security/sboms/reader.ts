/**
 * Reads SBOMs without blocking the event loop: small ones directly, large ones in subprocesses, a few at a time.
 *
 * Workspaces take turns for the subprocesses. A waiting document is in an unlinked file that disappears with its process, so no gateway
 * holds it in memory. A reader that takes too long is killed, and its document is refused as too large.
 */
import { randomUUID } from "node:crypto";
import { mkdir, open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { DiskSpaceGuard } from "../../accounts/quotas/disk-space-guard.ts";
import { FairSemaphore } from "../../accounts/quotas/fair-semaphore.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { EventLoopYielder } from "../../process/event-loop-yielder.ts";
import { subprocessesMax, SubprocessTimeoutError, type SubprocessInput } from "../../process/subprocess.ts";
import * as limits from "../limits.ts";
import { readerHead, readerLines } from "../subprocess.ts";
import { parseSbomField, type SbomPath, type ParsedBody, decodeBody } from "./sbom-field.ts";
import { SbomRefusal } from "./refusal.ts";

const busy = "Too many SBOMs are being read at present (sbomReadersMax); nothing was stored, so try again in a minute";
const readerTurns = {
  runningMax: Math.min(limits.sbomReadersMax, subprocessesMax),
  runningPerHolderMax: limits.sbomReadersPerWorkspaceMax,
  waitingMax: limits.sbomReadersWaitingMax,
  waitingPerHolderMax: limits.sbomReadersWaitingPerWorkspaceMax,
  waitMs: limits.sbomReaderWaitMs,
};

interface ReaderParts {
  clock: Clock;
  /** The folder in which larger documents wait. */
  folder: string;
  disk: Pick<DiskSpaceGuard, "require">;
}

interface IncomingBody {
  /** The body in pieces, as they arrive or all at once. */
  pieces: Pieces;
  path: SbomPath;
  workspace: WorkspaceId;
  /** Awaited once the body is complete, before it is read. @param large whether a subprocess reads it */
  onReceived?: (large: boolean) => Promise<void>;
}

export class SbomReader {
  readonly #parts: ReaderParts;
  readonly #semaphore: FairSemaphore;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.#semaphore = new FairSemaphore({ clock: parts.clock, limits: readerTurns, busy });
  }

  /**
   * @throws LimitReachedError if too many documents are being read, or the disk is full; SbomRefusal too_large if the document takes too
   *   long, or the body has more than 1 MiB besides the document; errors of reading the pieces. Other refusals are part of the result
   */
  async read({ pieces, path, workspace, onReceived }: IncomingBody): Promise<ParsedBody> {
    await this.requireDisk();
    const { beginning, rest } = await begunOf(pieces);
    if (rest === null) {
      await onReceived?.(false);
      return parseSbomField({ bytes: Buffer.concat(beginning), path });
    }
    const head = readerHead("sbom", JSON.stringify(path));
    await using file = await spool(allOf([head, ...beginning], rest), this.#parts.folder);
    await onReceived?.(true);
    const body = await this.readInSubprocess({ input: file, workspace });
    if (body.rest.length > limits.toolsBodyBytesMax) throw restTooLarge(body, path ?? []);
    return body;
  }

  /** @throws LimitReachedError 503 if the disk has no space for another document */
  requireDisk(): Promise<void> {
    return this.#parts.disk.require();
  }

  /**
   * Runs a reader task whose result `encodeBody` writes, when it is the workspace's turn.
   * @throws LimitReachedError; SbomRefusal too_large if it takes too long
   */
  async readInSubprocess({ input, workspace }: { input: SubprocessInput; workspace: WorkspaceId }): Promise<ParsedBody> {
    const { clock } = this.#parts;
    const release = await this.#semaphore.acquire(workspace);
    try {
      const lines = readerLines({ input, withinMs: limits.sbomReadMs, clock });
      return await decodeBody(lines, new EventLoopYielder(clock));
    } catch (error) {
      if (!(error instanceof SubprocessTimeoutError)) throw error;
      throw new SbomRefusal(
        "too_large",
        `The document takes longer than ${limits.sbomReadMs / 1_000} s to read; upload a smaller one`,
      );
    } finally {
      release();
    }
  }
}

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** The pieces to read directly, and the iterator of the rest; null if there is no rest. */
async function begunOf(
  pieces: Pieces,
): Promise<{ beginning: Uint8Array[]; rest: AsyncIterator<Uint8Array> | Iterator<Uint8Array> | null }> {
  const all = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  const beginning: Uint8Array[] = [];
  for (let bytes = 0; bytes <= limits.sbomReadHereBytesMax;) {
    const { done, value } = await all.next();
    if (done) return { beginning, rest: null };
    beginning.push(value);
    bytes += value.length;
  }
  return { beginning, rest: all };
}

interface SpoolFile extends AsyncDisposable {
  /** Open for reading, from the start. */
  fd: number;
}

/**
 * Writes the pieces as they arrive. When this resolves, the file is unlinked.
 * @param folder of this process; created if missing
 * @throws errors of reading the pieces
 */
async function spool(pieces: Pieces, folder: string): Promise<SpoolFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, randomUUID());
  await using written = await open(path, "wx", 0o600);
  try {
    for await (const piece of pieces) await writeAll(written, piece);
    const file = await open(path, "r");
    return { fd: file.fd, [Symbol.asyncDispose]: () => file.close() };
  } finally {
    await rm(path, { force: true });
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

async function* allOf(
  beginning: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array> | Iterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* beginning;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function restTooLarge({ sbom }: ParsedBody, path: readonly string[]): SbomRefusal {
  const place = path.join(".");
  const none = `There is no document at "${place}" in the body: without one, send at most ${limits.toolsBodyBytesMax} bytes`;
  const some = `The body is too large: send at most ${limits.toolsBodyBytesMax} bytes in addition to the document at "${place}"`;
  return new SbomRefusal("too_large", sbom === null ? none : some);
}
