/**
 * A block: credit and places of a key's window, with which a gateway decides this key's requests by itself for ten seconds at most. Asking
 * a worker costs a quarter of the gateway's time for a request. A shared bound can be split into parts that are spent locally: escrow
 * transactions (O'Neil, ACM TODS 11(4), 1986), the demarcation protocol (Barbará and Garcia-Molina, VLDB Journal 3(3), 1994). Nothing is
 * overdrawn, for four reasons. A block is a hold with an id like a generation's: what is lent, held and spent is never more than what is
 * there. Time ends deciding, never holding: what was lent stays held until its gateway or that one's successor returns it, or the sweeper
 * finds after 20 minutes that no gateway knows it. A return only makes a block smaller: the counters take the smaller value, so a late or
 * repeated return changes nothing. The charge comes first: metering pushes the balance before it confirms a settlement, and only then does
 * the block keep less. The window stays exact. Lent places count as used until a return gives the times of their requests, which a gateway
 * computes from the counters' clock, never too early. A dead gateway's block counts for a minute after its end. `window` shows clients what
 * was left when the block was lent plus what is left of it: exact with one gateway, and late by a block's life with several. A gateway that
 * loses its disk loses the list of these requests: the log then shows one expired row for each block.
 */
import type { BlockReturn, Hold } from "../../backing/counters.ts";
import { holdMs } from "../../backing/limits.ts";
import type { Month, Clock } from "../../kernel/clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { BlockUse } from "../journal/open-report.ts";
import type { RequestBatcher } from "./batcher.ts";
import { blockRecallPauseMs, blockReportedMs, blockReturnPauseMs } from "./limits.ts";
import type { WindowOnBus, ReturnBlock } from "./message.ts";

/** The next block is asked for when less than this part of places, credit or life is left. */
const renewShare = 0.3;

interface Lent {
  id: GenerationId;
  workspace: WorkspaceId;
  key: KeyId;
  month: Month;
  amount: NanoUsd;
  places: number;
  /** By the counters' clock; `askedAt` is before that, by this process's monotonic clock. */
  at: number;
  askedAt: number;
  lifeMs: number;
  /** Excludes all lent places. */
  window: WindowOnBus;
}

/** The rest of a block, and the times of its requests. */
type BlockRemainder = Pick<Lent, "id" | "workspace" | "key" | "month"> & { times: number[]; reserved: NanoUsd };

export class Block {
  readonly id: GenerationId;
  readonly workspace: WorkspaceId;
  readonly key: KeyId;
  readonly month: Month;
  /** Monotonic ms. Never later than the counters' end of the block, since it was asked for before it was lent. */
  readonly endsAt: number;
  readonly #lent: Lent;
  #left: NanoUsd;
  #places: number;
  /** What its requests reserve that the ledger does not have. */
  #reserved: NanoUsd = 0n;
  /** What its requests ever reserved here; null: they were those of another process. */
  #taken: NanoUsd | null = 0n;
  #times: number[] = [];
  #isOpen = true;
  /** Monotonic ms. */
  #usedAt: number;

  constructor(lent: Lent) {
    this.#lent = lent;
    this.id = lent.id;
    this.workspace = lent.workspace;
    this.key = lent.key;
    this.month = lent.month;
    this.endsAt = lent.askedAt + lent.lifeMs;
    this.#usedAt = lent.askedAt;
    this.#left = lent.amount;
    this.#places = lent.places;
  }

  /** A block of a process that died, or one that may not have been lent. */
  static ended({ times, reserved, ...of }: BlockRemainder): Block {
    const window = { limit: 0, remaining: 0, resetMs: 0 };
    const block = new Block({ ...of, amount: reserved, places: 0, at: 0, askedAt: 0, lifeMs: 0, window });
    block.#isOpen = false;
    block.#times = times;
    block.#reserved = reserved;
    block.#taken = null;
    return block;
  }

  get reserved(): NanoUsd {
    return this.#reserved;
  }

  get requests(): number {
    return this.#times.length;
  }

  /** Whether its time is up, or its key has been idle. @param idleMs how long a block may go unused */
  isOver(now: number, idleMs: number): boolean {
    return now >= this.endsAt || now - this.#usedAt >= idleMs;
  }

  isUsable(now: number): boolean {
    return this.#isOpen && this.#places > 0 && now < this.endsAt;
  }

  /**
   * Admits a request.
   * @returns when, by the counters' clock, never too early; null: it does not fit
   */
  take(amount: NanoUsd, now: number): number | null {
    if (amount > this.#left || !this.isUsable(now)) return null;
    this.#left -= amount;
    this.#reserved += amount;
    if (this.#taken !== null) this.#taken += amount;
    this.#places--;
    this.#usedAt = now;
    const { at, askedAt, lifeMs } = this.#lent;
    const time = Math.min(Math.ceil(at + 1 + now - askedAt), at + lifeMs);
    this.#times.push(time);
    return time;
  }

  /** A request that it admitted was not sent. Its place stays used, like that of any admission. */
  giveBack(amount: NanoUsd): void {
    this.#reserved -= amount;
    this.#left += amount;
  }

  /** The ledger has a request that it admitted. */
  settle(amount: NanoUsd): void {
    this.#reserved -= amount;
  }

  end(): void {
    this.#isOpen = false;
  }

  /** Whether the next block should be asked for, so that no request has to wait for it. */
  isNearEnd(now: number): boolean {
    const { amount, places, lifeMs } = this.#lent;
    if (this.#places <= places * renewShare) return true;
    if (Number(this.#left) < Number(amount) * renewShare) return true;
    return this.endsAt - now < lifeMs * renewShare && this.#times.length > 1;
  }

  /** The key's window as far as this gateway knows, without anything lent to others. */
  window(now: number): WindowOnBus {
    const { window, askedAt } = this.#lent;
    const resetMs = Math.max(0, Math.ceil(window.resetMs - (now - askedAt)));
    return { limit: window.limit, remaining: window.remaining + this.#places, resetMs };
  }

  asUse(): BlockUse {
    return { block: this.id, reserved: this.#reserved, taken: this.#taken };
  }

  /** The return that the counters get once it has ended. */
  asReturn(): BlockReturn {
    return { key: this.key, block: this.id, keep: this.#reserved, times: this.#times };
  }

  asHold(): Hold {
    const { at } = this.#lent;
    const admittedAt = this.#times[0] ?? at;
    const { id: generation, key, month } = this;
    return { generation, fingerprint: "", amount: this.#reserved, key, month, admittedAt, deadline: admittedAt + holdMs };
  }
}

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

/**
 * Blocks that have ended. The counters learn what their requests still reserve and when they were admitted, until nothing is left. A return
 * that is lost is sent again.
 */
export class BlockReturns {
  readonly #batcher: RequestBatcher;
  readonly #clock: Clock;
  readonly #ended = new Map<GenerationId, EndedBlock>();
  /** Blocks that were returned whole, with the end of their time in reports, in this order. */
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

  /** A request waits for the unused part of these blocks. */
  hurry(isMeant: (block: Block) => boolean): Block[] {
    const meant: Block[] = [];
    for (const ended of this.#ended.values()) {
      if (!isMeant(ended.block)) continue;
      ended.pauseMs = blockRecallPauseMs;
      meant.push(ended.block);
    }
    return meant;
  }

  /** Includes blocks that were recently returned whole: a replica of Redis that takes its master's place may lack their last return. */
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
