/** Consumes settlements: settle, confirm, acknowledge. A settlement that cannot be understood is put aside alone. */
import type { Database } from "../backing/backing.ts";
import type { Bus, Delivered } from "../backing/bus.ts";
import { raiseAlarm } from "../kernel/alarm.ts";
import type { Logger } from "../kernel/log.ts";
import { chargedUsdTotal } from "../kernel/metrics.ts";
import { usdAsJsonNumber } from "../kernel/money.ts";
import { settlementBatchMax, settlementTransactionMax } from "../limits/constants.ts";
import { decodeSettlements, encodeSettled } from "../generations/settlement-codec.ts";
import type { Settlement } from "../generations/settlement.ts";
import { chargeOf } from "./charge.ts";
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
  const booked = await settleOrPutAside(settlements, letters, parts);
  if (letters.length > 0) await bury(letters, parts);
  report(settlements, booked, parts.log);
  parts.bus.broadcast("settled", encodeSettled(batches));
}

/** Where the database refuses a value, the batch is settled one by one, so that one bad settlement holds up no other. */
async function settleOrPutAside(settlements: Settlement[], letters: DeadLetter[], parts: MeteringParts): Promise<Booked[]> {
  try {
    const booked = await settle(settlements, parts);
    for (const settlement of settlements) {
      if (booked.refused.has(settlement.generation)) letters.push(deadSettlement(settlement, "There is no such workspace"));
    }
    return [booked];
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    const [only] = settlements;
    if (settlements.length === 1 && only) {
      letters.push(deadSettlement(only, String(error)));
      return [];
    }
    const booked: Booked[] = [];
    for (const settlement of settlements) booked.push(...(await settleOrPutAside([settlement], letters, parts)));
    return booked;
  }
}

/** SQLSTATE classes 22 (data exception) and 23 (constraint violation), by PostgreSQL's appendix A. */
function isRefusedValue(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^2[23]/.test(String(error.code));
}

function deadSettlement(settlement: Settlement, reason: string): DeadLetter {
  return letterOf(settlement.generation, new TextEncoder().encode(JSON.stringify(settlement)), reason);
}

function letterOf(messageId: string, payload: Uint8Array, reason: string): DeadLetter {
  return { stream, messageId, payload, reason };
}

async function bury(letters: DeadLetter[], { sql, log }: MeteringParts): Promise<void> {
  await keepDeadLetters(letters, sql);
  for (const { messageId, reason } of letters) {
    raiseAlarm(log, "settlement.dead", { messageId, reason }, "A settlement cannot be booked and was put aside in dead_letters");
  }
}

/** What an operator must hear of: lost ends, late charges, and counts above what was reserved. */
function report(settlements: Settlement[], bookings: Booked[], log: Logger): void {
  const fresh = new Set(bookings.flatMap((booked) => [...booked.fresh]));
  const late = new Set(bookings.flatMap((booked) => [...booked.late]));
  for (const settlement of settlements) {
    const { generation, workspace, outcome, reserved, model, provider } = settlement;
    if (!fresh.delete(generation)) continue;
    const facts = { generation, workspace, reserved, model, provider };
    const { cost } = chargeOf(settlement);
    chargedUsdTotal.inc({ provider }, usdAsJsonNumber(cost));
    if (outcome !== "settled") raiseAlarm(log, `generation.${outcome}`, facts, "A generation's end is not known; it is charged nothing");
    if (late.has(generation)) raiseAlarm(log, "charge.late", facts, "A generation was charged after its hold had been given up");
    if (cost > BigInt(reserved)) {
      raiseAlarm(log, "charge.above_reservation", { ...facts, cost: cost.toString() }, "A provider counted more than was reserved");
    }
  }
}
