/** What admit.lua replies, as the port's replies. */
import type { AdmitReply, AdmitRequest, RateWindow } from "../counters.ts";
import type { Month } from "../../kernel/clock.ts";
import type { ReplyWords } from "./reply-words.ts";
import { resolutionOf } from "./resolutions.ts";

/** The request that the next numbers answer, and what its batch was decided by. */
export interface Asked {
  request: AdmitRequest;
  month: Month;
  now: number;
}

/** By the number that admit.lua has for it. */
const outcomes: ((reply: ReplyWords, asked: Asked) => AdmitReply)[] = [
  (reply, { request, month }) => {
    const [at, available] = [reply.number(), reply.nano()];
    return { outcome: "admitted", at, month, amount: request.amount, available, window: windowIn(reply), replay: false };
  },
  (reply) => {
    const [at, month, amount, available] = [reply.number(), monthIn(reply), reply.nano(), reply.nano()];
    return { outcome: "admitted", at, month, amount, available, window: windowIn(reply), replay: true };
  },
  (reply) => ({ outcome: "rate_limited", retryAfterMs: reply.number(), window: windowIn(reply) }),
  (reply, { request }) => ({ outcome: "model_refused", reason: request.modelRefusal ?? "", window: windowIn(reply) }),
  (reply) => {
    const [available, balance] = [reply.nano(), reply.nano()];
    return { outcome: "insufficient_credit", available, balance, window: windowIn(reply) };
  },
  (reply) => ({ outcome: "key_spend_limit_exceeded", headroom: reply.nano(), window: windowIn(reply) }),
  (reply) => ({ outcome: "account_spend_limit_exceeded", headroom: reply.nano(), window: windowIn(reply) }),
  (reply) => ({ outcome: "already_resolved", as: resolutionOf(reply.number()) }),
  () => ({ outcome: "conflict" }),
  () => ({ outcome: "late" }),
  (_, { now }) => ({ outcome: "wrong_month", now }),
  () => ({ outcome: "not_ready", what: "workspace" }),
  () => ({ outcome: "not_ready", what: "month" }),
  () => ({ outcome: "not_ready", what: "key" }),
];

export function readAdmission(reply: ReplyWords, asked: Asked): AdmitReply {
  const number = reply.number();
  const read = outcomes[number];
  if (read === undefined) throw new Error(`Cannot read the outcome ${number} in a function's reply`);
  return read(reply, asked);
}

function windowIn(reply: ReplyWords): RateWindow {
  return { remaining: reply.number(), resetMs: reply.number() };
}

/** Year and month. */
function monthIn(reply: ReplyWords): Month {
  return `${reply.number()}-${String(reply.number()).padStart(2, "0")}`;
}
