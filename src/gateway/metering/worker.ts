/** Consumes settlements: settle, confirm, acknowledge. A settlement that cannot be understood is put aside alone. */
import type { Bus, Delivered } from "../../backing/bus.ts";
import { raiseAlarm } from "../../kernel/alarm.ts";
import type { Logger } from "../../kernel/log.ts";
import { chargedUsdTotal, excessUsdTotal } from "../../kernel/metrics.ts";
import { usdAsJsonNumber, type NanoUsd } from "../../kernel/money.ts";
import { settlementEventsMax, settlementPaceMs, settlementTransactionMax } from "../limits.ts";
import { decodeSettlements, encodeSettled } from "../journal/settlement-codec.ts";
import type { Settlement } from "../journal/settlement.ts";
import type { Charge } from "./charge.ts";
import { oncePerGeneration, settle, type Booked, type SettleParts } from "./settle.ts";
import type { DeadLetter, MaintenanceStore } from "./maintenance-store.ts";

export interface MeteringParts extends SettleParts {
  bus: Bus;
  maintenance: Pick<MaintenanceStore, "storeDeadLetters">;
  log: Logger;
}

const stream = "settlements";

/** Runs until disposed. */
export function consumeSettlements(parts: MeteringParts): Promise<AsyncDisposable> {
  const pace = { messagesMax: settlementEventsMax, everyMs: settlementPaceMs };
  return parts.bus.consume(stream, pace, (events) => settleEvents(events, parts));
}

/** In as few transactions as may be. @throws when ledger or counters did not answer: the events come again */
export async function settleEvents(events: Delivered[], parts: MeteringParts): Promise<void> {
  for (const some of inTransactions(events.map(readEvent))) await settleTogether(some, parts);
}

async function settleTogether(some: ReadEvent[], parts: MeteringParts): Promise<void> {
  const settlements = oncePerGeneration(some.flatMap((read) => read.settlements));
  const { settled, refused } = await settleOrRefuse(settlements, parts);
  const letters = [...some.flatMap((read) => read.letters), ...refused];
  if (letters.length > 0) await storeAsDeadLetters(letters, parts);
  for (const { charges, booked } of settled) reportCharges(charges, booked, parts.log);
  parts.bus.broadcast("settled", encodeSettled(some.flatMap(({ batch }) => batch ?? [])));
}

/** An event, with what cannot be understood of it. */
interface ReadEvent {
  batch: string | null;
  settlements: Settlement[];
  letters: DeadLetter[];
}

function readEvent({ id, payload }: Delivered): ReadEvent {
  try {
    const { batch, settlements, bad } = decodeSettlements(payload);
    const letters = bad.map(({ text, reason }) => deadLetterOf(id, new TextEncoder().encode(text), reason));
    return { batch, settlements, letters };
  } catch (error) {
    return { batch: null, settlements: [], letters: [deadLetterOf(id, payload, String(error))] };
  }
}

/** Events stay whole, for each is confirmed as a whole. */
function* inTransactions(events: ReadEvent[]): Generator<ReadEvent[]> {
  let some: ReadEvent[] = [];
  let count = 0;
  for (const event of events) {
    if (some.length > 0 && count + event.settlements.length > settlementTransactionMax) {
      yield some;
      [some, count] = [[], 0];
    }
    some.push(event);
    count += event.settlements.length;
  }
  if (some.length > 0) yield some;
}

interface Outcome {
  settled: { charges: Charge[]; booked: Booked }[];
  refused: DeadLetter[];
}

/** Where the database refuses a value, each is tried once more by itself, so that one bad settlement holds up no other. */
async function settleOrRefuse(settlements: Settlement[], parts: MeteringParts): Promise<Outcome> {
  const outcome: Outcome = { settled: [], refused: [] };
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
    const settled = await settle(settlements, parts);
    outcome.settled.push(settled);
    const homeless = settlements.filter(({ generation }) => settled.booked.refused.has(generation));
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
  return deadLetterOf(settlement.generation, new TextEncoder().encode(JSON.stringify(settlement)), reason);
}

/** A parser quotes what it stumbled over, and the database takes no zero byte in a text. */
function deadLetterOf(messageId: string, payload: Uint8Array, reason: string): DeadLetter {
  return { stream, messageId, payload, reason: reason.replaceAll("\0", "") };
}

async function storeAsDeadLetters(letters: DeadLetter[], { maintenance, log }: MeteringParts): Promise<void> {
  await maintenance.storeDeadLetters(letters);
  for (const { messageId, reason } of letters) {
    raiseAlarm(log, "settlement.dead", { messageId, reason }, "A settlement cannot be booked and was put aside in dead_letters");
  }
}

/** What an operator must hear of: lost ends, late charges, and costs that could not be charged. */
function reportCharges(charges: Charge[], { fresh, late }: Booked, log: Logger): void {
  const sums = new Map<string, { cost: NanoUsd; excess: NanoUsd }>();
  for (const { settlement } of charges) {
    const { generation, workspace, outcome, reserved, model, provider } = settlement;
    const booked = fresh.get(generation);
    if (!booked) continue;
    const { cost, excess } = booked;
    const sum = sums.get(provider) ?? { cost: 0n, excess: 0n };
    sums.set(provider, { cost: sum.cost + cost, excess: sum.excess + excess });
    const facts = { generation, workspace, reserved, model, provider };
    if (outcome !== "settled")
      raiseAlarm(log, `generation.${outcome}`, facts, "A generation's end is not known; it is charged nothing");
    if (late.has(generation)) raiseAlarm(log, "charge.late", facts, "A generation was charged after its hold had been given up");
    if (excess > 0n) raiseAlarm(log, "charge.above_reservation", { ...facts, ...asTexts(booked) }, aboveReservation);
  }
  for (const [provider, { cost, excess }] of sums) {
    chargedUsdTotal.inc({ provider }, usdAsJsonNumber(cost));
    if (excess > 0n) excessUsdTotal.inc({ provider }, usdAsJsonNumber(excess));
  }
}

const aboveReservation = "An answer cost more than was reserved for it, or than was left; the rest is the service's loss";

function asTexts({ cost, excess }: { cost: NanoUsd; excess: NanoUsd }): Record<string, string> {
  return { cost: cost.toString(), excess: excess.toString() };
}
