/**
 * Blocks that have ended. The counters are told what their requests still reserve and when they were admitted, until nothing is left.
 * A return that is lost is said again; the counters only ever make a block smaller.
 */
import { holdMs } from "../../../backing/limits.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../../../kernel/ids.ts";
import type { NanoUsd } from "../../../kernel/money.ts";
import { blockRecallPauseMs, blockReportedMs, blockReturnPauseMs } from "../limits.ts";
import type { ReturnBlock } from "../message.ts";
import type { Block } from "./block.ts";
import type { RequestBatcher } from "./request-batcher.ts";

interface EndedBlock {
  block: Block;
  /** Monotonic ms: by then the sweeper has released it. */
  givenUpAt: number;
  /** The least pause between two returns. */
  pauseMs: number;
  /** Monotonic ms of its end, or of the last return. */
  toldAt: number;
  /** What it kept by the last return that was confirmed; null: there was none. */
  kept: NanoUsd | null;
  isTelling: boolean;
}

export class BlockReturns {
  readonly #batcher: RequestBatcher;
  readonly #clock: Clock;
  readonly #ended = new Map<GenerationId, EndedBlock>();
  /** Those that were returned whole, until when a report has them, in this order. */
  readonly #returned = new Map<GenerationId, { block: Block; reportedUntil: number }>();

  constructor(batcher: RequestBatcher, clock: Clock) {
    this.#batcher = batcher;
    this.#clock = clock;
  }

  get size(): number {
    return this.#ended.size;
  }

  add(block: Block): void {
    const now = this.#clock.monotonic();
    const times = { givenUpAt: now + holdMs, toldAt: now };
    this.#ended.set(block.id, { block, ...times, pauseMs: blockReturnPauseMs, kept: null, isTelling: false });
  }

  find(id: GenerationId): Block | undefined {
    return this.#ended.get(id)?.block;
  }

  /** Somebody waits for what these blocks do not need. */
  hurry(isMeant: (block: Block) => boolean): Block[] {
    const meant: Block[] = [];
    for (const ended of this.#ended.values()) {
      if (!isMeant(ended.block)) continue;
      ended.pauseMs = blockRecallPauseMs;
      meant.push(ended.block);
    }
    return meant;
  }

  /** With those that were returned whole lately: a replica of Redis that takes its master's place may lack their last return. */
  toReport(workspace: WorkspaceId): Block[] {
    this.#forget(this.#clock.monotonic());
    return [...this.#returned.values(), ...this.#ended.values()].flatMap(({ block }) =>
      block.workspace === workspace ? [block] : [],
    );
  }

  /** Sends the returns that are due. */
  tell(): void {
    const now = this.#clock.monotonic();
    this.#forget(now);
    for (const ended of this.#ended.values()) {
      if (ended.givenUpAt <= now) this.#ended.delete(ended.block.id);
      else if (isDue(ended, now)) void this.#tell(ended, now);
    }
  }

  async #tell(ended: EndedBlock, now: number): Promise<void> {
    const { block } = ended;
    const { keep } = block.asReturn();
    Object.assign(ended, { isTelling: true, toldAt: now });
    try {
      const { reply } = await this.#batcher.send(returnOf(block));
      if (reply.kind === "done") ended.kept = keep;
    } catch {
      // The next turn sends it again.
    }
    ended.isTelling = false;
    if (ended.kept !== 0n) return;
    this.#ended.delete(block.id);
    this.#returned.set(block.id, { block, reportedUntil: this.#clock.monotonic() + blockReportedMs });
  }

  #forget(now: number): void {
    for (const [id, { reportedUntil }] of this.#returned) {
      if (reportedUntil > now) return;
      this.#returned.delete(id);
    }
  }
}

function isDue({ block, pauseMs, toldAt, kept, isTelling }: EndedBlock, now: number): boolean {
  if (isTelling || kept === block.reserved) return false;
  return now - toldAt >= pauseMs || (block.reserved === 0n && kept === null);
}

function returnOf(block: Block): ReturnBlock {
  const { key, keep, times } = block.asReturn();
  let before = 0;
  const distances = times.map((time) => {
    const distance = time - before;
    before = time;
    return distance;
  });
  return { kind: "return", workspace: block.workspace, key, block: block.id, keep: keep.toString(), times: distances };
}
