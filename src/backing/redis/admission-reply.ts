/** Reads the reply of admit.lua as the port's replies. */
import type { AdmitReply, AdmitRequest, RateWindow } from "../counters.ts";
import type { Month } from "../../kernel/clock.ts";
import type { ReplyReader } from "./reply-reader.ts";
import { resolutionOf } from "./resolutions.ts";

/** The request that the next elements reply to, and the month and clock of its batch. */
export interface DecidedRequest {
  request: AdmitRequest;
  month: Month;
  now: number;
}

/** By the number that admit.lua gives an outcome. */
const outcomes: ((reply: ReplyReader, decided: DecidedRequest) => AdmitReply)[] = [
  (reply, { request, month }) => {
    const [at, available] = [reply.number(), reply.nano()];
    return { outcome: "admitted", at, month, amount: request.amount, available, window: windowIn(reply), replay: false };
  },
  (reply) => {
    const [at, month, amount, available] = [reply.number(), monthIn(reply), reply.nano(), reply.nano()];
    return { outcome: "admitted", at, month, amount, available, window: windowIn(reply), replay: true };
  },
  (reply) => ({ outcome: "rate_limited", retryAfterMs: reply.number(), ...lentIn(reply), window: windowIn(reply) }),
  (reply, { request }) => ({ outcome: "model_refused", reason: request.modelRefusal ?? "", window: windowIn(reply) }),
  (reply) => {
    const [available, balance] = [reply.nano(), reply.nano()];
    return { outcome: "insufficient_credit", available, balance, ...lentIn(reply), window: windowIn(reply) };
  },
  (reply) => ({ outcome: "key_spend_limit_exceeded", headroom: reply.nano(), ...lentIn(reply), window: windowIn(reply) }),
  (reply) => ({ outcome: "account_spend_limit_exceeded", headroom: reply.nano(), ...lentIn(reply), window: windowIn(reply) }),
  (reply) => ({ outcome: "already_resolved", as: resolutionOf(reply.number()) }),
  () => ({ outcome: "conflict" }),
  () => ({ outcome: "late" }),
  (_, { now }) => ({ outcome: "wrong_month", now }),
  () => ({ outcome: "not_ready", what: "workspace" }),
  () => ({ outcome: "not_ready", what: "month" }),
  () => ({ outcome: "not_ready", what: "key" }),
  () => ({ outcome: "not_ready", what: "budget" }),
  (reply, { request }) => {
    const budget = request.budgets?.[reply.number()];
    if (budget === undefined) throw new Error("Cannot read a function's reply: it names a budget that its request does not have");
    return { outcome: budget.refusal, headroom: reply.nano(), budget: budget.name, window: windowIn(reply) };
  },
  () => ({ outcome: "unreachable" }),
];

export function readAdmission(reply: ReplyReader, decided: DecidedRequest): AdmitReply {
  const number = reply.number();
  const read = outcomes[number];
  if (read === undefined) throw new Error(`Cannot read the outcome ${number} in a function's reply`);
  return read(reply, decided);
}

function windowIn(reply: ReplyReader): RateWindow {
  return { remaining: reply.number(), resetMs: reply.number() };
}

/** Whether blocks may have what is missing. */
function lentIn(reply: ReplyReader): { isLent?: true } {
  return reply.number() === 1 ? { isLent: true } : {};
}

/** Year and month. */
function monthIn(reply: ReplyReader): Month {
  return `${reply.number()}-${String(reply.number()).padStart(2, "0")}`;
}
