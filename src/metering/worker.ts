/** Consumes settlements: settle, confirm, acknowledge. A settlement that cannot be understood is put aside alone. */
import type { Database } from "../backing/backing.ts";
import type { Bus, Delivered } from "../backing/bus.ts";
import type { Logger } from "../kernel/log.ts";
import { settlementBatchMax, settlementTransactionMax } from "../limits/constants.ts";
import { decodeSettlements, encodeSettled } from "../generations/settlement-codec.ts";
import type { Settlement } from "../generations/settlement.ts";
import { settle, type Booked, type SettleParts } from "./settle.ts";
import { keepDeadLetters, type DeadLetter } from "./upkeep-store.ts";

export interface MeteringParts extends SettleParts {
  bus: Bus;
  sql: Database;
  log: Logger;
}

const stream = "settlements";

/** Runs until disposed. */
export function consumeSettlements(parts: MeteringParts): Promise<AsyncDisposable> {
  const messagesMax = Math.floor(settlementTransactionMax / settlementBatchMax);
  return parts.bus.consume(stream, { messagesMax }, (events) => settleEvents(events, parts));
}

/** One transaction for all the events. @throws when ledger or counters did not answer: the events come again */
export async function settleEvents(events: Delivered[], parts: MeteringParts): Promise<void> {
  const settlements: Settlement[] = [];
  const batches: string[] = [];
  const letters: DeadLetter[] = [];
  for (const { id, payload } of events) {
    try {
      const decoded = decodeSettlements(payload);
      batches.push(decoded.batch);
      settlements.push(...decoded.settlements);
      for (const { text, reason } of decoded.bad) letters.push(letterOf(id, new TextEncoder().encode(text), reason));
    } catch (error) {
      letters.push(letterOf(id, payload, String(error)));
    }
  }
  const booked = await settle(settlements, parts);
  const refused = settlements.filter(({ generation }) => booked.refused.has(generation));
  for (const settlement of refused) {
    letters.push(letterOf(settlement.generation, new TextEncoder().encode(JSON.stringify(settlement)), "unknown workspace"));
  }
  if (letters.length > 0) await bury(letters, parts);
  report(settlements, booked, parts.log);
  parts.bus.broadcast("settled", encodeSettled(batches));
}

function letterOf(messageId: string, payload: Uint8Array, reason: string): DeadLetter {
  return { stream, messageId, payload, reason };
}

async function bury(letters: DeadLetter[], { sql, log }: MeteringParts): Promise<void> {
  await keepDeadLetters(letters, sql);
  for (const { messageId, reason } of letters) {
    log.error({ event: "settlement.dead", messageId, reason }, "A settlement cannot be booked and was put aside in dead_letters");
  }
}

/** What an operator must hear of: lost ends, late charges, and counts above what was reserved. */
function report(settlements: Settlement[], booked: Booked, log: Logger): void {
  for (const { generation, workspace, outcome, reserved, model, provider } of settlements) {
    if (!booked.fresh.has(generation)) continue;
    const late = booked.late.has(generation);
    if (outcome !== "settled")
      log.error(
        { event: `generation.${outcome}`, generation, workspace, reserved },
        "A generation's end is not known; it is charged nothing",
      );
    if (late)
      log.error(
        { event: "charge.late", generation, workspace, model, provider },
        "A generation was charged after its hold had been given up",
      );
  }
}
