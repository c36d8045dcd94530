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
import { oncePerGeneration, settle, type Booked, type SettleParts } from "./settle.ts";
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
  const { settlements, batches, letters } = readEvents(events);
  const { bookings, refused } = await settleOrPutAside(settlements, parts);
  letters.push(...refused);
  if (letters.length > 0) await bury(letters, parts);
  report(settlements, bookings, parts.log);
  parts.bus.broadcast("settled", encodeSettled(batches));
}

function readEvents(events: Delivered[]): { settlements: Settlement[]; batches: string[]; letters: DeadLetter[] } {
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
  return { settlements: oncePerGeneration(settlements), batches, letters };
}

interface Outcome {
  bookings: Booked[];
  refused: DeadLetter[];
}

/** Where the database refuses a value, each is tried once more by itself, so that one bad settlement holds up no other. */
async function settleOrPutAside(settlements: Settlement[], parts: MeteringParts): Promise<Outcome> {
  const outcome: Outcome = { bookings: [], refused: [] };
  if (settlements.length === 0 || (await trySettle(settlements, { outcome, parts })) === null) return outcome;
  for (const settlement of settlements) {
    const refusal = await trySettle([settlement], { outcome, parts });
    if (refusal !== null) outcome.refused.push(deadSettlement(settlement, refusal));
  }
  return outcome;
}

/** @returns why the database refused a value; null: it took them */
async function trySettle(
  settlements: Settlement[],
  { outcome, parts }: { outcome: Outcome; parts: MeteringParts },
): Promise<string | null> {
  try {
    const booked = await settle(settlements, parts);
    outcome.bookings.push(booked);
    const homeless = settlements.filter(({ generation }) => booked.refused.has(generation));
    outcome.refused.push(...homeless.map((settlement) => deadSettlement(settlement, "There is no such workspace")));
    return null;
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    return String(error);
  }
}

/** SQLSTATE classes 22 (data exception), 23 (constraint violation) and 54 (too large), by PostgreSQL's appendix A. */
function isRefusedValue(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(22|23|54)/.test(String(error.code));
}

function deadSettlement(settlement: Settlement, reason: string): DeadLetter {
  return letterOf(settlement.generation, new TextEncoder().encode(JSON.stringify(settlement)), reason);
}

/** A parser quotes what it stumbled over, and the database takes no zero byte in a text. */
function letterOf(messageId: string, payload: Uint8Array, reason: string): DeadLetter {
  return { stream, messageId, payload, reason: reason.replaceAll("\0", "") };
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
    if (outcome !== "settled")
      raiseAlarm(log, `generation.${outcome}`, facts, "A generation's end is not known; it is charged nothing");
    if (late.has(generation)) raiseAlarm(log, "charge.late", facts, "A generation was charged after its hold had been given up");
    if (cost > BigInt(reserved)) {
      raiseAlarm(
        log,
        "charge.above_reservation",
        { ...facts, cost: cost.toString() },
        "A provider counted more than was reserved",
      );
    }
  }
}
