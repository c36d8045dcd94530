/** A provider that answers, fails or disconnects at random, and records each call and its counts. */
import type { Reservation } from "../../../src/gateway/credit/reservation.ts";
import type { Prices, TieredPrices, Usage } from "../../../src/gateway/models/model.ts";
import type { CallProvider } from "../../../src/gateway/providers/http.ts";
import { drainMsMax } from "../../../src/gateway/limits.ts";
import {
  UpstreamFailure,
  type WholeAnswer,
  type ProviderAnswer,
  type ProviderCall,
  type ProviderEvent,
} from "../../../src/gateway/providers/provider.ts";
import { end, FakeEvents, finish, text } from "../../support/providers/fake-events.ts";
import type { Chance } from "../chance.ts";
import type { Host } from "./host.ts";
import type { Recorder } from "../recorder.ts";

/** The duration of an answer: mostly short, sometimes very long. */
function someDurationMs(chance: Chance, { chat }: ProviderCall): number {
  if (isPrompt(chat) || chance.happens(0.6)) return chance.between(5, 400);
  return chance.happens(0.6) ? chance.between(400, 6_000) : chance.between(6_000, 60_000);
}

function isPrompt(chat: ProviderCall["chat"]): boolean {
  return chat["is_prompt"] === true;
}

export class Provider {
  readonly #host: Host;
  readonly #chance: Chance;
  readonly #recorder: Recorder;
  /** Monotonic milliseconds. */
  readonly #calledAt = new Map<string, number>();

  /** @param host the gateway that calls it; nothing reaches a dead one */
  constructor({ host, chance, recorder }: { host: Host; chance: Chance; recorder: Recorder }) {
    this.#host = host;
    this.#chance = chance;
    this.#recorder = recorder;
  }

  readonly call: CallProvider = (reservation, call, options) => {
    this.#recorder.note({ kind: "called", generation: reservation.generation });
    this.#calledAt.set(reservation.generation, this.#host.clock.monotonic());
    options?.onSent?.();
    this.#due(call, 0);
    return new Promise((resolve, reject) => {
      const { clock } = this.#host;
      const cancel = clock.after(someDurationMs(this.#chance, call), () => {
        options?.givenUp?.listen(null);
        try {
          resolve(this.#answer(reservation, call));
        } catch (error) {
          this.#nothingDue(call);
          reject(error as Error);
        }
      });
      options?.givenUp?.listen(() => {
        cancel();
        this.#due(call, 0);
        reject(new UpstreamFailure("upstream_error", "the call was aborted"));
      });
    });
  };

  #answer(reservation: Reservation, call: ProviderCall): ProviderAnswer {
    if (!isPrompt(call.chat) && this.#chance.happens(0.1)) {
      const code = this.#chance.pick([
        "upstream_error",
        "upstream_rejected",
        "upstream_rate_limited",
        "upstream_timeout",
      ] as const);
      throw new UpstreamFailure(code, "at random");
    }
    const usage = this.#count(reservation, call);
    if (call.streamed) return { kind: "stream", events: this.#stream(call, usage) };
    if (usage) this.#served(call, usage);
    const message: WholeAnswer["message"] = { role: "assistant", content: "some words", refusal: null };
    return { kind: "whole", answer: { message, finishReason: "stop", logprobs: null, usage } };
  }

  /** Counts within the reservation, except for a few calls that count more; null: it reports no count. */
  #count({ maxOutputTokens }: Reservation, { chat }: ProviderCall): Usage | null {
    const chance = this.#chance;
    if (chance.happens(0.05)) return null;
    const bound = Number(chat["input_tokens_bound"]);
    const promptTokens = chance.happens(0.02)
      ? bound + 500
      : chance.happens(0.05)
        ? 0
        : chance.between(Math.floor(bound / 2), bound);
    const completionTokens = chance.happens(0.05)
      ? 0
      : chance.happens(0.4)
        ? maxOutputTokens
        : chance.between(1, maxOutputTokens);
    // A count of zero tokens is no count: no format accepts it.
    if (promptTokens + completionTokens === 0) return null;
    const cachedTokens = chance.happens(0.2) ? chance.between(0, promptTokens) : 0;
    const cacheWriteTokens = cachedTokens > 0 ? Math.floor((promptTokens - cachedTokens) / 2) : 0;
    return { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens: 0 };
  }

  /** Sends its events one by one, and may disconnect before its count. */
  #stream(call: ProviderCall, usage: Usage | null): FakeEvents {
    const chance = this.#chance;
    const words = Array.from({ length: chance.between(1, 4) }, () => text("word "));
    const ending: ProviderEvent[] = usage ? [finish(), { kind: "usage", usage }, end] : [finish(), end];
    const breaks = chance.happens(0.15);
    const failure = new UpstreamFailure("upstream_error", "broken off at random");
    const events = breaks ? [...words, { kind: "failure" as const, failure }] : [...words, ...ending];
    const stream = new FakeEvents(events.slice(0, 1));
    const gapMs = chance.pick([1, 50, 400, 4_000]);
    let sent = 1;
    const next = (place: number): void => {
      const event = events[place];
      if (event === undefined) return;
      if (stream.closed) return this.#due(call, Math.max(0, Math.min(sent, words.length, stream.asked) - 1), usage);
      if (event.kind === "failure") this.#nothingDue(call);
      sent++;
      if (event.kind === "usage" && usage) this.#served(call, usage, { isPartial: true });
      if (event.kind === "end" && usage) this.#served(call, usage);
      stream.give(event);
      this.#host.clock.after(chance.next() * gapMs, () => next(place + 1));
    };
    this.#host.clock.after(chance.next() * gapMs, () => next(1));
    return stream;
  }

  /** Records the amount that is due if the client hangs up now: for the prompt and so many words. Weir reads a stream with reasoning on for a minute. */
  #due({ generation, route, chat, maxOutputTokens }: ProviderCall, words: number, thought: Usage | null = null): void {
    const promptTokens = Number(chat["prompt_estimate"]);
    const seen = {
      ...nothing,
      promptTokens,
      completionTokens: Math.min(Math.ceil((words * "word ".length) / 4), maxOutputTokens),
    };
    const isReadOn = this.#host.clock.monotonic() - (this.#calledAt.get(generation) ?? 0) < drainMsMax;
    const billed = chat.model === "acme/thinker" && thought !== null && isReadOn ? thought : seen;
    this.#recorder.note({ kind: "owed", generation, amount: ownCost(pricesOf(route.prices), billed) });
  }

  /** Records that nothing is due, since the provider failed. */
  #nothingDue({ generation }: ProviderCall): void {
    this.#recorder.note({ kind: "owed", generation, amount: 0n });
  }

  #served({ generation, route }: ProviderCall, usage: Usage, how: { isPartial?: true } = {}): void {
    const cost = ownCost(pricesOf(route.prices), usage);
    this.#recorder.note({ kind: "served", generation, cost, ...how });
  }
}

const nothing: Usage = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };

/** Computes the cost independently of Weir's code: in pico-USD, with half a nano-USD rounded up. */
function ownCost(tiered: TieredPrices, usage: Usage): bigint {
  let prices: Prices = tiered;
  for (const tier of tiered.tiers ?? []) if (usage.promptTokens > tier.aboveInputTokens) prices = tier;
  const fresh = BigInt(usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens) * prices.input;
  const cached = BigInt(usage.cachedTokens) * prices.cacheRead + BigInt(usage.cacheWriteTokens) * prices.cacheWrite;
  return (fresh + cached + BigInt(usage.completionTokens) * prices.output + 500n) / 1_000n;
}

function pricesOf(prices: TieredPrices | null): TieredPrices {
  if (prices === null) throw new Error("The simulation's model must have prices");
  return prices;
}
