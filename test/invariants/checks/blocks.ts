import { Notes, type Finding } from "../evidence.ts";
import type { History, Lent } from "../history.ts";

/** I-22: with a block no more is admitted than was lent, neither requests nor credit, and nothing after its end. */
export function blocksHold(history: History): Finding {
  const notes = new Notes();
  const blocks = new Map<string, { lent: Lent & { at: number }; amount: bigint; places: number }>();
  const admitted = new Map<string, { block: string; amount: bigint }>();
  for (const event of history) {
    if (event.kind === "lent") blocks.set(event.block, { lent: event, amount: 0n, places: 0 });
    if (event.kind === "released") {
      const own = admitted.get(event.generation);
      const block = own && blocks.get(own.block);
      if (block) block.amount -= own.amount;
    }
    if (event.kind !== "admitted" || event.block === undefined) continue;
    const { generation, at, amount, workspace, key } = event;
    admitted.set(generation, { block: event.block, amount });
    const block = blocks.get(event.block);
    // A harness of real processes does not know what the counters lent.
    if (block === undefined && blocks.size === 0) continue;
    notes.check(block !== undefined, () => `${generation}: admitted at ${at} with ${event.block}, which was not lent`);
    if (!block) continue;
    const { lent } = block;
    block.amount += amount;
    block.places++;
    notes.check(lent.workspace === workspace && lent.key === key, () => `${generation}: admitted with a block of ${lent.key}`);
    notes.check(at <= lent.at + lent.lifeMs, () => `${generation}: admitted at ${at}, its block was lent at ${lent.at}`);
    notes.check(block.amount <= lent.amount, () => `${generation}: its block has ${block.amount} of ${lent.amount}`);
    notes.check(block.places <= lent.places, () => `${generation}: its block has ${block.places} of ${lent.places} requests`);
  }
  return notes;
}
