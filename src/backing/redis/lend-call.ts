/** The arguments of lend.lua and take-back.lua, and the reply of the first. */
import type { LendReply, LendRequest, TakeBack } from "../counters.ts";
import { monthBounds } from "../../kernel/clock.ts";
import {
  blockPauseMs,
  blockPlacesMin,
  blockRateMin,
  blockReturnMsMax,
  blockShare,
  holdMs,
  rateWindowMs,
  tombstoneMs,
} from "../limits.ts";
import { keyMonthField, monthField, windowField } from "./fields.ts";
import { distances } from "./load-call.ts";
import { ReplyReader, type ReplyElement } from "./reply-reader.ts";

export function lendValues(request: LendRequest, run: number): (string | Buffer)[] {
  const { key, month, block, requestsPerMinute, least, amount, places, keyLimit, workspaceLimit, deadline, lifeMs } = request;
  const { startMs, endMs } = monthBounds(month);
  const numbers = new Float64Array([
    run,
    startMs,
    endMs,
    holdMs,
    rateWindowMs,
    tombstoneMs,
    blockShare,
    blockRateMin,
    blockPlacesMin,
    blockReturnMsMax,
    requestsPerMinute,
    Number(least),
    Number(amount),
    places,
    Number(keyLimit ?? Infinity),
    Number(workspaceLimit ?? Infinity),
    deadline ?? Infinity,
    lifeMs,
  ]);
  return [monthField(month), windowField(key), keyMonthField({ key, month }), block, Buffer.from(numbers.buffer)];
}

export function readLent(reply: readonly ReplyElement[]): LendReply {
  const reader = new ReplyReader(reply);
  reader.number();
  if (reader.atEnd) return { outcome: "kept" };
  const [at, amount, places, lifeMs] = [reader.number(), reader.nano(), reader.number(), reader.number()];
  return { outcome: "lent", at, amount, places, lifeMs, window: { remaining: reader.number(), resetMs: reader.number() } };
}

export function takeBackValues({ returns, pause }: TakeBack): string[] {
  const paused = pause === undefined ? "" : (pause.key ?? "*");
  const blocks = returns.flatMap(({ key, block, keep, times }) => [key, block, keep.toString(), distances(times)]);
  return [String(rateWindowMs), String(tombstoneMs), String(blockPauseMs), paused, ...blocks];
}
