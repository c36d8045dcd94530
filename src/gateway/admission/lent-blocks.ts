/**
 * The blocks that workers lend to this gateway: which key gets one, and what ends it. If anything is unknown there is none, and a worker
 * decides each request. A block is asked for together with a request that a worker decides, and renewed when less than a third is left. It
 * costs as much as two requests to a worker, so a key whose requests are far apart gets none, and a key whose last block served few
 * requests gets none for five seconds, then twice as long, up to a minute (`KeyDemand`). An unused block is returned. Blocks end early. The
 * message that clears cached key records, also sent when another server keeps the ledger, ends all blocks, and a block never outlives the
 * record that it was lent by. So a changed key or limit holds within 30 seconds even if the message is lost. A block ends with its month,
 * with a rebuild of the counters, when the counters do not answer (worker/guards.ts), and when this gateway has heard no worker, or has not
 * run, for half a second: after three seconds of silence a rebuild proceeds without it. A gateway that stops returns its blocks. A killed
 * one has them in its spool, written before each was requested, and its successor returns what is not open. Keys with budgets or own
 * provider keys, and models that cannot be called, are always decided by a worker (worker/service.ts).
 */
import { LRUCache } from "lru-cache";
import type { Bus } from "../../backing/bus.ts";
import type { BlockReturn, Hold } from "../../backing/counters.ts";
import { blockPlacesMin, blockLifeMs } from "../../backing/limits.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import { newGenerationId, type GenerationId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { BlockBook } from "../journal/journal.ts";
import type { BlockUse } from "../journal/open-report.ts";
import type { RecoveredBlock } from "../journal/recovery.ts";
import type { RequestBatcher } from "./batcher.ts";
import { Block, BlockReturns } from "./block.ts";
import {
  blockIdleMs,
  blockKeysMax,
  blockSilenceMsMax,
  blockTickMs,
  blockDemandMs,
  blockKeptPauseMs,
  blockUnusedPauseMsMax,
} from "./limits.ts";
import type { AdmissionReply, LendBlock, Caller } from "./message.ts";

/** A block that is being asked for. */
interface Asked {
  id: GenerationId;
  workspace: WorkspaceId;
  key: KeyId;
  /** The reason for the block has changed: it is returned as soon as it arrives. */
  isStale: boolean;
}

interface LentBlocksParts {
  batcher: RequestBatcher;
  bus: Pick<Bus, "silentMs" | "connected">;
  clock: Clock;
  /** Milliseconds of the counters' clock; null: not known. */
  deadline: () => number | null;
  /** The number of keys whose demand is known; absent: `blockKeysMax`. */
  keysMax?: number | undefined;
}

export class LentBlocks implements BlockBook {
  readonly #parts: LentBlocksParts;
  readonly #returns: BlockReturns;
  readonly #demands: LRUCache<KeyId, KeyDemand>;
  /** Blocks that requests are decided with, by key. */
  readonly #open = new Map<KeyId, Block>();
  /** All blocks that open requests were decided with, except those that are being returned. */
  readonly #byId = new Map<GenerationId, Block>();
  readonly #asked = new Map<KeyId, Asked>();
  /** Monotonic ms. */
  #tickedAt = 0;
  #isTicking = false;

  constructor(parts: LentBlocksParts) {
    this.#parts = parts;
    this.#demands = new LRUCache({ maxSize: parts.keysMax ?? blockKeysMax, sizeCalculation: () => 1 });
    this.#returns = new BlockReturns(parts.batcher, parts.clock);
  }

  /** How many the gateway decides with. */
  get size(): number {
    return this.#open.size;
  }

  /** Whether all blocks were returned. */
  get isEmpty(): boolean {
    return this.#open.size + this.#returns.size + this.#asked.size === 0;
  }

  /** The key's block, if requests can be decided with it now. */
  find(key: KeyId, now: number): Block | null {
    const block = this.#open.get(key);
    if (block === undefined) return null;
    if (this.#isCutOff(now)) {
      this.endAll();
      return null;
    }
    return block.isUsable(now) ? block : null;
  }

  /** Call it for each admitted request, whose needs decide about the next block. */
  noteRequest({ record, hash }: Caller, amount: NanoUsd, now: number): void {
    const { id: key } = record;
    const demand = this.#demands.get(key) ?? new KeyDemand();
    this.#demands.set(key, demand);
    demand.note(amount, now);
    const block = this.#open.get(key);
    if (this.#asked.has(key) || (block?.isUsable(now) && !block.isNearEnd(now))) return;
    const wish = demand.wish(now);
    if (wish !== null) void this.#ask({ record, hash }, { ...wish, least: amount * BigInt(blockPlacesMin) }, demand);
  }

  giveBack(block: GenerationId, amount: NanoUsd): void {
    (this.#byId.get(block) ?? this.#returns.find(block))?.giveBack(amount);
  }

  settled(block: GenerationId, reserved: NanoUsd): void {
    (this.#byId.get(block) ?? this.#returns.find(block))?.settle(reserved);
  }

  end(workspace: WorkspaceId): { blocks: BlockReturn[]; holds: Hold[] } {
    this.#endThose((of) => of.workspace === workspace);
    const ended = this.#returns.toReport(workspace);
    const blocks = ended.map((block) => ({ ...block.asReturn(), times: [] }));
    const holds = ended.filter(({ reserved }) => reserved > 0n).map((block) => block.asHold());
    return { blocks, holds };
  }

  recall(workspace: WorkspaceId, key: KeyId | null): BlockReturn[] {
    const isMeant = (of: { workspace: WorkspaceId; key: KeyId }) =>
      of.workspace === workspace && (key === null || of.key === key);
    this.#endThose(isMeant);
    return this.#returns.hurry(isMeant).map((block) => block.asReturn());
  }

  /** A block that is being asked for may already be lent; none of it is used. */
  uses(workspace: WorkspaceId): BlockUse[] {
    const isMeant = (of: { workspace: WorkspaceId }): boolean => of.workspace === workspace;
    const asked = [...this.#asked.values()].filter(isMeant).map(({ id }) => ({ block: id, reserved: 0n, taken: 0n }));
    const known = [...this.#open.values()].filter(isMeant).concat(this.#returns.toReport(workspace));
    return [...asked, ...known.map((block) => block.asUse())];
  }

  /** Keys, workspaces or the counters changed: decides with none of the current blocks. */
  endAll(): void {
    this.#endThose(() => true);
  }

  /** Takes over the blocks of a process that died. */
  adopt(blocks: readonly RecoveredBlock[]): void {
    for (const { block: id, ...of } of blocks) this.#returns.add(Block.ended({ id, ...of }));
    this.#tickSoon();
  }

  /** Ends all blocks. @returns false if they were not returned in time: the sweeper releases what is left */
  async returned(ms: number): Promise<boolean> {
    const { clock } = this.#parts;
    const endsAt = clock.monotonic() + ms;
    this.endAll();
    while (!this.isEmpty && clock.monotonic() < endsAt) await sleep(clock, blockTickMs);
    return this.isEmpty;
  }

  #endThose(isMeant: (of: { workspace: WorkspaceId; key: KeyId }) => boolean): void {
    for (const asked of this.#asked.values()) if (isMeant(asked)) asked.isStale = true;
    for (const block of this.#open.values()) if (isMeant(block)) this.#end(block);
  }

  #end(block: Block): void {
    block.end();
    if (this.#open.get(block.key) === block) this.#open.delete(block.key);
    this.#byId.delete(block.id);
    this.#returns.add(block);
    this.#tickSoon();
  }

  async #ask({ record, hash }: Caller, { least, amount, places }: Wish & { least: NanoUsd }, demand: KeyDemand): Promise<void> {
    const { batcher, clock, deadline } = this.#parts;
    const { workspace, id: key } = record;
    const id = newGenerationId(clock.now());
    const asked: Asked = { id, workspace, key, isStale: false };
    this.#asked.set(key, asked);
    const askedAt = clock.monotonic();
    const wished = { least: least.toString(), amount: (amount > least ? amount : least).toString(), places };
    const request: LendBlock = { kind: "lend", block: id, hash, ...wished, deadline: deadline() };
    let reply: AdmissionReply | null = null;
    // Two workers may have received the request, and the other one may have lent the block.
    let resent = false;
    try {
      ({ reply, resent } = await batcher.send(request, { workspace, key, block: id }));
    } catch {
      // It may have been lent, so it is returned.
    }
    this.#asked.delete(key);
    if (reply?.kind === "lent") {
      const { month, at, lifeMs, window } = reply;
      const amounts = { amount: BigInt(reply.amount), places: reply.places };
      this.#opened(new Block({ id, workspace, key, month, at, askedAt, lifeMs, window, ...amounts }), asked.isStale);
      return;
    }
    demand.kept(clock.monotonic());
    if (reply?.kind !== "kept" || resent)
      this.#returns.add(Block.ended({ id, workspace, key, month: "", times: [], reserved: 0n }));
    this.#tickSoon();
  }

  #opened(block: Block, isStale: boolean): void {
    const before = this.#open.get(block.key);
    if (before) this.#end(before);
    if (isStale) return this.#end(block);
    this.#open.set(block.key, block);
    this.#byId.set(block.id, block);
    this.#tickSoon();
  }

  /** A rebuild of the counters may have proceeded without this process. */
  #isCutOff(now: number): boolean {
    const { bus } = this.#parts;
    return now - this.#tickedAt > blockSilenceMsMax || bus.silentMs("admission") > blockSilenceMsMax || !bus.connected();
  }

  #tickSoon(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    this.#tickedAt = this.#parts.clock.monotonic();
    this.#parts.clock.after(blockTickMs, () => this.#tick());
  }

  #tick(): void {
    const { clock } = this.#parts;
    const now = clock.monotonic();
    if (this.#isCutOff(now)) this.endAll();
    this.#tickedAt = now;
    for (const block of this.#open.values()) {
      const demand = this.#demands.peek(block.key);
      if (!block.isOver(now, demand?.idleMs ?? blockIdleMs)) continue;
      demand?.ended(block.requests, now);
      this.#end(block);
    }
    this.#returns.tell();
    this.#isTicking = this.#open.size + this.#returns.size > 0;
    if (this.#isTicking) clock.after(blockTickMs, () => this.#tick());
  }
}

/** What a key needs, judging by its recent use. */
interface Wish {
  amount: NanoUsd;
  places: number;
}

/** The share by which a request moves the averages. They rise quickly when a key becomes busy, and fall slowly. */
const weight = 0.2;
const busierWeight = 0.5;
/** Requests come unevenly: a block has a few more places and more credit than the averages need. */
const reserve = 1.5;
/** Lending and returning a block cost as much as two requests to a worker. */
const requestsMin = 4;
/** A key's burst has ended when no request came for this many times the usual pause. */
const pausesMax = 6;

export class KeyDemand {
  #lastAt = -Infinity;
  /** Nothing is lent for a key's first requests. */
  #gapMs = 2 * blockDemandMs;
  #amount = 0;
  #keptUntil = -Infinity;
  /** After the next block that serves too few requests. */
  #unusedPauseMs = blockKeptPauseMs;

  /** @param now monotonic ms */
  note(amount: NanoUsd, now: number): void {
    const gapMs = Math.min(now - this.#lastAt, 2 * blockDemandMs);
    this.#lastAt = now;
    this.#gapMs += (gapMs < this.#gapMs ? busierWeight : weight) * (gapMs - this.#gapMs);
    const value = Number(amount);
    this.#amount = this.#amount === 0 ? value : this.#amount + weight * (value - this.#amount);
  }

  /** Nothing was lent, so it is not requested again at once. */
  kept(now: number): void {
    this.#keptUntil = now + blockKeptPauseMs;
  }

  /**
   * A block was not renewed. One that served few requests cost more than it saved: the key is asked for one by one for a while, which grows
   * as long as its blocks do not pay.
   */
  ended(requests: number, now: number): void {
    if (requests >= requestsMin) {
      this.#unusedPauseMs = blockKeptPauseMs;
      return;
    }
    this.#keptUntil = now + this.#unusedPauseMs;
    this.#unusedPauseMs = Math.min(2 * this.#unusedPauseMs, blockUnusedPauseMsMax);
  }

  /** After this many milliseconds without a request, a block is returned. */
  get idleMs(): number {
    return Math.max(blockIdleMs, pausesMax * this.#gapMs);
  }

  /** What the key's next requests need; null: it makes too few. */
  wish(now: number): Wish | null {
    if (this.#gapMs >= blockDemandMs || now < this.#keptUntil) return null;
    const places = Math.max(blockPlacesMin, Math.ceil((reserve * blockLifeMs) / Math.max(1, this.#gapMs)));
    return { places, amount: BigInt(Math.ceil(this.#amount * reserve * places)) };
  }
}
