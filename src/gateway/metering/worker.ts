/**
 * Consumes settlements: settles, confirms and acknowledges them, in as few transactions as possible. An event is acknowledged after its
 * transaction, so a crash repeats it and loses nothing. If the database refuses a value, the set is halved until the one settlement that
 * cannot be booked is alone; that one is set aside as a dead letter, its hold is released, and all others are charged. All other failures
 * are repeated. Metrics show what was booked, and unknown ends, late charges and costs above the charge raise alarms.
 */
import type { Bus, Delivered } from "../../backing/bus.ts";
import { errorCode } from "../../kernel/error-code.ts";
import { raiseAlarm, chargedUsdTotal, excessUsdTotal, settlementDelaySeconds, tokensTotal } from "../../kernel/metrics.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { usdAsJsonNumber, type NanoUsd } from "../../kernel/money.ts";
import { spanSince, traces, type TracedSpan } from "../../kernel/traces.ts";
import { decodeSettlements, encodeSettled, type Settlement } from "../journal/settlement.ts";
import {
  settlementEventsMax,
  settlementPaceMs,
  settlementPaceMsMax,
  settlementTransactionMax,
  modelLabelsMax,
} from "../limits.ts";
import type { Usage } from "../models/model.ts";
import { type Charge, oncePerGeneration, settle, type Booked, type SettleParts } from "./settle.ts";
import type { DeadLetter, MaintenanceStore } from "./maintenance-store.ts";

export interface MeteringParts extends SettleParts {
  bus: Bus;
  maintenance: Pick<MaintenanceStore, "storeDeadLetters">;
  clock: Clock;
  log: Logger;
}

const stream = "settlements";

/** Runs until disposed. */
export function consumeSettlements(parts: MeteringParts): Promise<AsyncDisposable> {
  const pace = { messagesMax: settlementEventsMax, everyMs: settlementPaceMs, everyMsMax: settlementPaceMsMax };
  return parts.bus.consume(stream, pace, (events) => settleEvents(events, parts));
}

/** Settles events in as few transactions as possible. @throws when ledger or counters did not answer: the events are delivered again */
export async function settleEvents(events: Delivered[], parts: MeteringParts): Promise<void> {
  for (const group of inTransactions(events.map(readEvent))) await settleTogether(group, parts);
}

/** A decoded event, with its invalid settlements as dead letters. */
interface ReadEvent {
  batch: string | null;
  settlements: Settlement[];
  letters: DeadLetter[];
}

/** Groups events into transactions. An event is never split, since it is confirmed as a whole. */
function* inTransactions(events: ReadEvent[]): Generator<ReadEvent[]> {
  let group: ReadEvent[] = [];
  let count = 0;
  for (const event of events) {
    if (group.length > 0 && count + event.settlements.length > settlementTransactionMax) {
      yield group;
      [group, count] = [[], 0];
    }
    group.push(event);
    count += event.settlements.length;
  }
  if (group.length > 0) yield group;
}

function readEvent({ id, payload }: Delivered): ReadEvent {
  try {
    const { batch, settlements, invalid } = decodeSettlements(payload);
    const letters = invalid.map(({ text, reason }) => deadLetterOf(id, new TextEncoder().encode(text), reason));
    return { batch, settlements, letters };
  } catch (error) {
    return { batch: null, settlements: [], letters: [deadLetterOf(id, payload, String(error))] };
  }
}

/** A parser's error may quote a zero byte, which the database does not accept in a text. */
function deadLetterOf(messageId: string, payload: Uint8Array, reason: string): DeadLetter {
  return { stream, messageId, payload, reason: reason.replaceAll("\0", "") };
}

async function settleTogether(events: ReadEvent[], parts: MeteringParts): Promise<void> {
  const startedAt = traces() && parts.clock.monotonic();
  const settlements = oncePerGeneration(events.flatMap((event) => event.settlements));
  const { settled, refused } = await settleOrRefuse(settlements, parts);
  const letters = [...events.flatMap((event) => event.letters), ...refused];
  if (letters.length > 0) await storeAsDeadLetters(letters, parts);
  for (const one of settled) reportCharges(one, parts);
  if (startedAt !== null) for (const one of settled) traceSettlements(one, spanSince(startedAt, parts.clock));
  parts.bus.broadcast("settled", encodeSettled(events.flatMap(({ batch }) => batch ?? [])));
}

interface Outcome {
  settled: { charges: Charge[]; booked: Booked }[];
  refused: DeadLetter[];
}

/**
 * If the database refuses a value, each half is tried separately, and so on, so that an invalid settlement delays no other for long. A
 * single one is tried once more, since another transaction may have been the cause.
 */
async function settleOrRefuse(settlements: Settlement[], parts: MeteringParts): Promise<Outcome> {
  const outcome: Outcome = { settled: [], refused: [] };
  const waiting = settlements.length === 0 ? [] : [settlements];
  for (let some = waiting.pop(); some !== undefined; some = waiting.pop()) {
    if ((await trySettle(some, { outcome, parts })) === null) continue;
    const [only, second] = some;
    const middle = Math.ceil(some.length / 2);
    if (second) waiting.push(some.slice(middle), some.slice(0, middle));
    else if (only) await settleAlone(only, { outcome, parts });
  }
  return outcome;
}

/** @returns why the database refused a value; null: it accepted all settlements */
async function trySettle(
  settlements: Settlement[],
  { outcome, parts }: { outcome: Outcome; parts: MeteringParts },
): Promise<string | null> {
  try {
    const settled = await settle(settlements, parts);
    outcome.settled.push(settled);
    const withoutWorkspace = settlements.filter(({ generation }) => settled.booked.refused.has(generation));
    outcome.refused.push(...withoutWorkspace.map((settlement) => deadSettlement(settlement, "There is no such workspace")));
    return null;
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    return String(error);
  }
}

function deadSettlement(settlement: Settlement, reason: string): DeadLetter {
  return deadLetterOf(settlement.generation, new TextEncoder().encode(JSON.stringify(settlement)), reason);
}

/** SQLSTATE classes 22 (data exception), 23 (constraint violation) and 54 (too large), from PostgreSQL's appendix A. */
function isRefusedValue(error: unknown): boolean {
  return /^(22|23|54)/.test(errorCode(error));
}

async function settleAlone(
  settlement: Settlement,
  { outcome, parts }: { outcome: Outcome; parts: MeteringParts },
): Promise<void> {
  const refusal = await trySettle([settlement], { outcome, parts });
  if (refusal === null) return;
  outcome.refused.push(deadSettlement(settlement, refusal));
  if (settlement.outcome !== "settled") await releaseHold(settlement, parts);
}

/** If an expiry itself is refused, no later end releases its hold, and the sweeper would send it for ever. */
async function releaseHold({ workspace, generation, outcome }: Settlement, { counters }: MeteringParts): Promise<void> {
  await counters.resolveMany({ resolve: [{ workspace, generation, as: outcome }], accounts: [], keyMonths: [] });
}

async function storeAsDeadLetters(letters: DeadLetter[], { maintenance, log }: MeteringParts): Promise<void> {
  await maintenance.storeDeadLetters(letters);
  for (const { messageId, reason } of letters) {
    raiseAlarm(log, "settlement.dead", { messageId, reason }, "A settlement cannot be booked and was stored in dead_letters");
  }
}

function traceSettlements({ charges, booked }: Outcome["settled"][number], span: TracedSpan): void {
  for (const { settlement } of charges) {
    const { generation, outcome } = settlement;
    if (booked.fresh.has(generation)) traces()?.work({ generation, work: "settlement", outcome, ...span });
  }
}

// Alarms and metrics of what was booked

interface Sum {
  provider: string;
  model: string;
  cost: NanoUsd;
  excess: NanoUsd;
  /** By kind; a token has one kind. */
  tokens: Record<string, number>;
}

/**
 * Raises alarms for unknown ends, late charges and costs above the charge, and counts what this transaction booked. What was booked
 * before is not counted again.
 */
export function reportCharges(
  { charges, booked: { fresh, late } }: { charges: Charge[]; booked: Booked },
  { clock, log }: { clock: Clock; log: Logger },
): void {
  const sums = new Map<string, Sum>();
  let oldest = Infinity;
  for (const { settlement } of charges) {
    const { generation, workspace, outcome, reserved, model, provider, usage } = settlement;
    const booked = fresh.get(generation);
    if (!booked) continue;
    const { cost, excess, repeats } = booked;
    const sum = sumOf(sums, provider, model);
    sum.cost += cost;
    sum.excess += excess;
    addTokens(sum.tokens, usage);
    const facts = { generation, workspace, reserved, model, provider };
    if (outcome === "settled") oldest = Math.min(oldest, settlement.admittedAt + settlement.durationMs);
    else raiseAlarm(log, `generation.${outcome}`, facts, "A generation's end is not known; it is charged nothing");
    if (late.has(generation)) raiseAlarm(log, "charge.late", facts, "A generation was charged after its hold had been released");
    if (repeats !== undefined) raiseAlarm(log, "charge.repeated", { ...facts, ...asTexts(booked), first: repeats }, repeated);
    else if (excess > 0n) raiseAlarm(log, "charge.above_reservation", { ...facts, ...asTexts(booked) }, aboveReservation);
  }
  if (oldest < Infinity) settlementDelaySeconds.observe(Math.max(0, clock.now() - oldest) / 1_000);
  for (const sum of sums.values()) count(sum);
}

const aboveReservation = "An answer cost more than its reservation or the remaining balance; the service bears the rest";

const repeated =
  "A generation's idempotency key was spent on an earlier one; it is charged nothing, and the service bears its cost";

function sumOf(sums: Map<string, Sum>, provider: string, model: string): Sum {
  const name = `${provider} ${model}`;
  const known = sums.get(name);
  const sum = known ?? { provider, model, cost: 0n, excess: 0n, tokens: {} };
  if (known === undefined) sums.set(name, sum);
  return sum;
}

/** Tokens as charged: cached ones are part of the prompt, and reasoning is part of the completion. */
function addTokens(tokens: Record<string, number>, usage: Usage): void {
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  const written = Math.min(usage.cacheWriteTokens, usage.promptTokens - cached);
  const reasoned = Math.min(usage.reasoningTokens, usage.completionTokens);
  add("prompt", usage.promptTokens - cached - written);
  add("cached", cached);
  add("cache_write", written);
  add("completion", usage.completionTokens - reasoned);
  add("reasoning", reasoned);

  function add(kind: string, count: number): void {
    if (count > 0) tokens[kind] = (tokens[kind] ?? 0) + count;
  }
}

function count({ provider, model: name, cost, excess, tokens }: Sum): void {
  const model = modelLabel(name);
  chargedUsdTotal.inc({ provider, model }, usdAsJsonNumber(cost));
  if (excess > 0n) excessUsdTotal.inc({ provider }, usdAsJsonNumber(excess));
  for (const [kind, some] of Object.entries(tokens)) tokensTotal.inc({ provider, model, kind }, some);
}

const models = new Set<string>();

/** The catalog bounds the models that are called at one time, but not those that are called one after another. */
function modelLabel(model: string): string {
  if (!models.has(model) && models.size >= modelLabelsMax) return "other";
  models.add(model);
  return model;
}

function asTexts({ cost, excess }: { cost: NanoUsd; excess: NanoUsd }): Record<string, string> {
  return { cost: cost.toString(), excess: excess.toString() };
}
