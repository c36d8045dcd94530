/**
 * The credit that a workspace has left, for code that shows it or acts on it: the balance minus what open requests reserve, to the
 * nano-dollar. Credit that is merely lent still counts. The counters hold a block whole, so the gateways are asked how much of each block
 * open requests hold. If nothing is lent, no gateway is asked. Counters and gateways cannot be read at one moment. The gateways are asked
 * before and after the counters are read: at that moment a block held at most what it held before plus what was taken from it in between.
 * So the figure is never too high for the moment of the read, and exact if no block is used meanwhile. A block that no gateway reports
 * counts whole: its gateway is silent or dead. Questions about one workspace share their answers at a bounded rate, so frequent reads cost
 * the gateways little more than rare ones. Admission does not use this: it decides by what the counters hold, so a 402 counts blocks whole.
 */
import { LRUCache } from "lru-cache";
import type { Bus } from "../../backing/bus.ts";
import type { Counters } from "../../backing/counters.ts";
import { monthOf, sleep, type Clock, type Month } from "../../kernel/clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import {
  decodeBlockUses,
  decodeReserved,
  encodeReportRequest,
  type BlockUse,
  type ReportRequest,
} from "../journal/open-report.ts";
import {
  blockUseAsksMax,
  blockUseMs,
  blockUsePauseMs,
  blockUseRoundsMax,
  blockUsesMax,
  blockUseWorkspacesMax,
} from "./limits.ts";

export interface CreditPosition {
  balance: NanoUsd;
  /** Reserved by open requests. */
  reserved: NanoUsd;
  available: NanoUsd;
  /** The sum of the key's charges of the month; null: no key was named. */
  keySpent: NanoUsd | null;
  month: Month;
}

/** A reading of the counters at one moment. */
export interface CountedCredit {
  balance: NanoUsd;
  /** Reserved by open requests that have their own hold, and by blocks. */
  reserved: NanoUsd;
  /** Reserved by blocks alone. */
  lent: NanoUsd;
  /** The amount that each named block holds. */
  blocks: ReadonlyMap<GenerationId, NanoUsd>;
  keySpent: NanoUsd | null;
  month: Month;
}

interface Asked {
  workspace: WorkspaceId;
  key: KeyId | null;
}

export interface CountedAsked extends Asked {
  blocks: readonly GenerationId[];
}

interface AvailableCreditParts {
  bus: Pick<Bus, "survey">;
  clock: Clock;
  /** null: the counters cannot tell. */
  read: (asked: CountedAsked) => Promise<CountedCredit | null>;
}

/** The gateways' reports of a workspace's blocks. */
type Uses = ReadonlyMap<GenerationId, BlockUse>;

export class AvailableCredit {
  readonly #parts: AvailableCreditParts;
  readonly #surveys: Surveys<Uses>;
  readonly #reserved: Surveys<ReadonlyMap<KeyId, NanoUsd>>;

  constructor(parts: AvailableCreditParts) {
    this.#parts = parts;
    this.#surveys = new Surveys<Uses>(parts, { use: true }, (answers) => {
      return new Map(answers.flatMap(decodeBlockUses).map((use) => [use.block, use]));
    });
    this.#reserved = new Surveys<ReadonlyMap<KeyId, NanoUsd>>(parts, { byKey: true }, (answers) => {
      const sums = new Map<KeyId, NanoUsd>();
      for (const { key, reserved } of answers.flatMap(decodeReserved)) sums.set(key, (sums.get(key) ?? 0n) + reserved);
      return sums;
    });
  }

  /**
   * What the open requests of each key reserve, by the gateways; keys without one are absent. A gateway that does not answer in time is left
   * out.
   * @throws BusUnavailableError
   */
  reservedByKey(workspace: WorkspaceId): Promise<ReadonlyMap<KeyId, NanoUsd>> {
    return this.#reserved.ask(workspace);
  }

  /**
   * @returns null: the counters do not know
   * @throws BusUnavailableError when gateways cannot be asked, and whatever reading the counters throws
   */
  async position(asked: Asked): Promise<CreditPosition | null> {
    const { read } = this.#parts;
    const first = await read({ ...asked, blocks: [] });
    if (first === null || first.lent <= 0n) return first && positionOf(first, 0n);
    let before = await this.#surveys.ask(asked.workspace);
    for (let round = 1; ; round++) {
      const counted = await read({ ...asked, blocks: [...before.keys()].slice(0, blockUsesMax) });
      if (counted === null || counted.lent <= 0n) return counted && positionOf(counted, 0n);
      const after = await this.#surveys.ask(asked.workspace);
      const { unused, isKnown } = unusedOf(counted, { before, after });
      // A block that was lent meanwhile is known the next time, and a silent gateway is not waited for again.
      if (isKnown || round === blockUseRoundsMax) return positionOf(counted, unused);
      before = after;
    }
  }
}

/** @throws CountersUnavailableError */
export async function countedCredit({ workspace, key, blocks }: CountedAsked, counters: Counters): Promise<CountedCredit | null> {
  const { account, now, ...counted } = await counters.read(workspace, key, blocks);
  if (account === null) return null;
  const { lent, blocks: held, keySpent } = counted;
  return { balance: account.balance, reserved: account.reserved, lent, blocks: held, keySpent, month: monthOf(now) };
}

function positionOf({ balance, reserved, keySpent, month }: CountedCredit, unused: NanoUsd): CreditPosition {
  const held = reserved - unused;
  return { balance, reserved: held, available: balance - held, keySpent, month };
}

/** The credit that blocks hold beyond their open requests, and whether it is known for all blocks. */
function unusedOf({ lent, blocks }: CountedCredit, { before, after }: { before: Uses; after: Uses }) {
  let unused = 0n;
  let unknown = lent;
  for (const [block, held] of blocks) {
    const used = usedOf(before.get(block), after.get(block));
    if (used === null) continue;
    unknown -= held;
    if (used < held) unused += held - used;
  }
  return { unused, isKnown: unknown <= 0n };
}

/** The most that a block's open requests reserved at a moment between two answers; null: not known, or another process took over its gateway. */
function usedOf(before: BlockUse | undefined, after: BlockUse | undefined): NanoUsd | null {
  if (before === undefined || after === undefined) return null;
  if (before.taken === null || after.taken === null) return before.taken === after.taken ? before.reserved : null;
  return before.reserved + after.taken - before.taken;
}

/**
 * Questions to all gateways. Each caller gets an answer to a question that is sent after its call, and the callers of one turn of the event
 * loop share one. A few questions about a workspace follow each other at once, as one look needs, and then at a bounded rate: each costs
 * every gateway something.
 */
class Surveys<Answer> {
  readonly #parts: Pick<AvailableCreditParts, "bus" | "clock">;
  /** The times of the last questions, in monotonic ms. */
  readonly #sentAt = new LRUCache<WorkspaceId, number[]>({ max: blockUseWorkspacesMax });
  readonly #next = new Map<WorkspaceId, Promise<Answer>>();
  readonly #asked: Omit<ReportRequest, "workspace">;
  readonly #read: (answers: Uint8Array[]) => Answer;

  constructor(
    parts: Pick<AvailableCreditParts, "bus" | "clock">,
    asked: Omit<ReportRequest, "workspace">,
    read: (answers: Uint8Array[]) => Answer,
  ) {
    this.#parts = parts;
    this.#asked = asked;
    this.#read = read;
  }

  /** @throws BusUnavailableError */
  ask(workspace: WorkspaceId): Promise<Answer> {
    const known = this.#next.get(workspace);
    if (known !== undefined) return known;
    const next = this.#turn(workspace).then(() => {
      this.#next.delete(workspace);
      return this.#send(workspace);
    });
    this.#next.set(workspace, next);
    return next;
  }

  #turn(workspace: WorkspaceId): Promise<void> {
    const { clock } = this.#parts;
    const before = this.#sentAt.get(workspace)?.at(-blockUseAsksMax) ?? -Infinity;
    const waitMs = before + blockUsePauseMs - clock.monotonic();
    return waitMs > 0 ? sleep(clock, waitMs) : new Promise((resolve) => void clock.endOfTurn(resolve));
  }

  async #send(workspace: WorkspaceId): Promise<Answer> {
    const { bus, clock } = this.#parts;
    const sentAt = this.#sentAt.get(workspace) ?? [];
    this.#sentAt.set(workspace, [...sentAt.slice(1 - blockUseAsksMax), clock.monotonic()]);
    return this.#read(await bus.survey("open-generations", encodeReportRequest({ workspace, ...this.#asked }), blockUseMs));
  }
}
