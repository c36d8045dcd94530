/** Tells people and graphs what was booked: alarms, and the metrics of charges, tokens and delay. */
import { raiseAlarm } from "../../kernel/alarm.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { chargedUsdTotal, excessUsdTotal, settlementDelaySeconds, tokensTotal } from "../../kernel/metrics.ts";
import { usdAsJsonNumber, type NanoUsd } from "../../kernel/money.ts";
import { modelLabelsMax } from "../limits.ts";
import type { Usage } from "../models/model.ts";
import type { Charge } from "./charge.ts";
import type { Booked } from "./settle.ts";

interface Sum {
  provider: string;
  model: string;
  cost: NanoUsd;
  excess: NanoUsd;
  /** By kind; a token is of one kind. */
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
    const { cost, excess } = booked;
    const sum = sumOf(sums, provider, model);
    sum.cost += cost;
    sum.excess += excess;
    addTokens(sum.tokens, usage);
    const facts = { generation, workspace, reserved, model, provider };
    if (outcome === "settled") oldest = Math.min(oldest, settlement.admittedAt + settlement.durationMs);
    else raiseAlarm(log, `generation.${outcome}`, facts, "A generation's end is not known; it is charged nothing");
    if (late.has(generation)) raiseAlarm(log, "charge.late", facts, "A generation was charged after its hold had been released");
    if (excess > 0n) raiseAlarm(log, "charge.above_reservation", { ...facts, ...asTexts(booked) }, aboveReservation);
  }
  if (oldest < Infinity) settlementDelaySeconds.observe(Math.max(0, clock.now() - oldest) / 1_000);
  for (const sum of sums.values()) count(sum);
}

const aboveReservation = "An answer cost more than its reservation or the remaining balance; the service bears the rest";

function asTexts({ cost, excess }: { cost: NanoUsd; excess: NanoUsd }): Record<string, string> {
  return { cost: cost.toString(), excess: excess.toString() };
}

function sumOf(sums: Map<string, Sum>, provider: string, model: string): Sum {
  const name = `${provider} ${model}`;
  const known = sums.get(name);
  const sum = known ?? { provider, model, cost: 0n, excess: 0n, tokens: {} };
  if (known === undefined) sums.set(name, sum);
  return sum;
}

/** As they are charged: what is cached is a part of the prompt, and what is reasoned of the completion. */
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

/** The catalog bounds the models that are called at one time, but not those that are called one after the other. */
function modelLabel(model: string): string {
  if (!models.has(model) && models.size >= modelLabelsMax) return "other";
  models.add(model);
  return model;
}
