/** Calls a provider as an admitted request does. */
import { reservationFrom, type Reservation } from "../../../src/gateway/credit/reservation.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import type { Route } from "../../../src/gateway/models/model.ts";
import { callProvider, type CallContext } from "../../../src/gateway/providers/http.ts";
import {
  UpstreamFailure,
  type WholeAnswer,
  type ChatBody,
  type ProviderAnswer,
  type ProviderCall,
} from "../../../src/gateway/providers/provider.ts";
import { aRoute } from "./models.ts";
import { OneByOne } from "./one-by-one.ts";
import { Transcript } from "./transcript.ts";

export const testKey = "sk-our-own-secret";
export const testGeneration = "gen-abcdefghijklmnopqrstuvwxyz";

export interface TestCall {
  route?: Route;
  chat?: Partial<ChatBody>;
  maxOutputTokens?: number;
  context?: Partial<CallContext>;
}

const clocks = { connectMs: 5_000, firstByteMs: 600_000, idleMs: 300_000, streamMs: 900_000 };

export function aContext(context: Partial<CallContext> = {}): CallContext {
  return { clock: systemClock, clocks, providerKey: () => new Secret(testKey), ...context };
}

export function aReservation(maxOutputTokens = 1_000): Reservation {
  const ids = { generation: testGeneration, request: "req-1", workspace: "ws-1", key: "key-1" };
  return reservationFrom({ ...ids, month: "2026-11", amount: 1n, admittedAt: 0, maxOutputTokens });
}

export function callAnything(
  streamed: boolean,
  { route, chat, maxOutputTokens = 100, context }: TestCall,
): Promise<ProviderAnswer> {
  const messages = [{ role: "user", content: "Hello" }];
  const call: ProviderCall = {
    generation: testGeneration,
    route: route ?? aRoute(),
    chat: { model: "stub/model", messages, ...chat },
    maxOutputTokens,
    streamed,
  };
  return callProvider(aReservation(), call, aContext(context));
}

/** @throws UpstreamFailure like the call, and Error if a stream was returned */
export async function callWhole(call: TestCall): Promise<WholeAnswer> {
  const answer = await callAnything(false, call);
  if (answer.kind !== "whole") throw new Error("A stream was returned for a whole call");
  return answer.answer;
}

export async function callStream(call: TestCall): Promise<OneByOne> {
  const answer = await callAnything(true, call);
  if (answer.kind !== "stream") throw new Error("A whole answer was returned for a stream call");
  return new OneByOne(answer.events);
}

/** Reads a stream to its end. */
export async function readAll(events: OneByOne): Promise<Transcript> {
  const transcript = new Transcript();
  for (let event = await events.next(); event !== null; event = await events.next()) transcript.take(event);
  return transcript;
}

/** The failure that ends the call; an Error if it does not fail. */
export async function failureOf(call: Promise<unknown>): Promise<UpstreamFailure> {
  try {
    await call;
  } catch (failure) {
    if (failure instanceof UpstreamFailure) return failure;
    throw failure;
  }
  throw new Error("The call did not fail");
}
