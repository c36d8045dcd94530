/** Counters and two gateways with blocks, as numbers: each step happens at once, between any two messages of a look at the credit. */
import type { Bus } from "../../../src/backing/bus.ts";
import { AvailableCredit, type CountedAsked, type CountedCredit } from "../../../src/gateway/admission/available-credit.ts";
import { encodeBlockUses } from "../../../src/gateway/journal/open-report.ts";
import { ManualClock } from "../clock.ts";

export interface ModelStep {
  kind: "admit" | "lend" | "take" | "giveBack" | "book" | "confirm" | "return" | "die" | "credit";
  amount: bigint;
  /** Chooses a request or a block. */
  pick: number;
}

interface ModelBlock {
  id: string;
  /** What is left of it at its gateway. */
  left: bigint;
  /** In the counters. */
  held: bigint;
  /** What the gateway knows to be open. */
  reserved: bigint;
  taken: bigint | null;
  isOpen: boolean;
  /** The gateway that reports it; null: none does. */
  owner: 0 | 1 | null;
}

interface ModelRequest {
  amount: bigint;
  block: ModelBlock | null;
}

export interface ModelLook {
  shown: bigint;
  /** Balance minus what open requests reserve, at the moment in which the counters were read last. */
  truth: bigint;
  /** No block was lent, lost or used meanwhile, and the gateways know what is booked and of all blocks. */
  isQuiet: boolean;
}

export class BlockModel {
  #balance = 1_000n;
  #blocks: ModelBlock[] = [];
  #open: ModelRequest[] = [];
  /** Booked, and the gateway has not heard of it. */
  #unconfirmed: ModelRequest[] = [];
  #isQuiet = true;

  do({ kind, amount, pick }: ModelStep): void {
    const block = chosen(this.#blocks, pick);
    const request = chosen(this.#open, pick);
    if (kind === "credit") this.#balance += amount;
    else if (kind === "admit") this.#admit(amount);
    else if (kind === "lend") this.#lend(amount, pick);
    else if (kind === "confirm") this.#confirm();
    else if (kind === "book" && request) this.#book(request);
    else if (kind === "giveBack" && request?.block) this.#giveBack(request, request.block);
    else if (block && kind === "take") this.#take(block, amount);
    else if (block && kind === "return") this.#return(block);
    else if (block && kind === "die") this.#die(block, pick);
  }

  get truth(): bigint {
    return this.#open.reduce((left, { amount }) => left - amount, this.#balance);
  }

  /** @param meanwhile what happens before each message of the look */
  async look(meanwhile: readonly (readonly ModelStep[])[]): Promise<ModelLook> {
    const steps = meanwhile.values();
    const pass = (): void => {
      for (const step of steps.next().value ?? []) this.do(step);
    };
    let truth = this.truth;
    this.#isQuiet = this.#unconfirmed.length === 0 && this.#blocks.every(({ held, owner }) => held === 0n || owner !== null);
    const survey: Bus["survey"] = async () =>
      ([0, 1] as const).map((gateway) => {
        pass();
        const known = this.#blocks.filter(({ owner }) => owner === gateway);
        return encodeBlockUses(known.map(({ id: block, reserved, taken }) => ({ block, reserved, taken })));
      });
    const read = async (asked: CountedAsked): Promise<CountedCredit> => {
      pass();
      truth = this.truth;
      return this.#counted(asked);
    };
    const credit = new AvailableCredit({ bus: { survey }, clock: new ManualClock(), read });
    const position = await credit.position({ workspace: "w1", key: null });
    if (position === null) throw new Error("The model's counters always answer");
    return { shown: position.available, truth, isQuiet: this.#isQuiet };
  }

  #counted({ blocks: asked }: CountedAsked): CountedCredit {
    const lent = this.#blocks.reduce((sum, { held }) => sum + held, 0n);
    const blocks = new Map(asked.map((id) => [id, this.#blocks.find((block) => block.id === id)?.held ?? 0n]));
    return { balance: this.#balance, reserved: this.#singleHolds() + lent, lent, blocks, keySpent: null, month: "2026-11" };
  }

  #singleHolds(): bigint {
    return this.#open.reduce((sum, { amount, block }) => (block === null ? sum + amount : sum), 0n);
  }

  #free(): bigint {
    return this.#blocks.reduce((left, { held }) => left - held, this.#balance - this.#singleHolds());
  }

  #admit(amount: bigint): void {
    if (amount <= this.#free()) this.#open.push({ amount, block: null });
  }

  #lend(wished: bigint, pick: number): void {
    const amount = 5n * wished;
    if (amount > this.#free()) return;
    this.#isQuiet = false;
    const id = `gen-${this.#blocks.length}`;
    this.#blocks.push({ id, left: amount, held: amount, reserved: 0n, taken: 0n, isOpen: true, owner: pick % 2 === 0 ? 0 : 1 });
  }

  #take(block: ModelBlock, amount: bigint): void {
    if (!block.isOpen || block.taken === null || amount > block.left) return;
    this.#isQuiet = false;
    block.left -= amount;
    block.reserved += amount;
    block.taken += amount;
    this.#open.push({ amount, block });
  }

  #giveBack(request: ModelRequest, block: ModelBlock): void {
    this.#isQuiet = false;
    this.#open = this.#open.filter((one) => one !== request);
    block.reserved -= request.amount;
    block.left += request.amount;
  }

  /** It costs half of what it reserved, and nothing now and then. */
  #book(request: ModelRequest): void {
    this.#open = this.#open.filter((one) => one !== request);
    this.#balance -= request.amount % 3n === 0n ? 0n : request.amount / 2n;
    if (request.block === null) return;
    this.#isQuiet = false;
    this.#unconfirmed.push(request);
  }

  #confirm(): void {
    const request = this.#unconfirmed.shift();
    if (request?.block) request.block.reserved -= request.amount;
  }

  #return(block: ModelBlock): void {
    block.isOpen = false;
    if (block.reserved < block.held) block.held = block.reserved;
  }

  /** Its gateway dies: the other one takes the block over, or none knows of it. */
  #die(block: ModelBlock, pick: number): void {
    this.#isQuiet = false;
    block.isOpen = false;
    block.taken = null;
    const other = block.owner === 0 ? 1 : 0;
    block.owner = pick % 3 === 0 || block.owner === null ? null : other;
  }
}

function chosen<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % list.length];
}
