/** A provider that answers, fails or disconnects at random, and records each call and its counts. */
import type { OwnKey } from "../../../src/accounts/keys/record.ts";
import type { Reservation } from "../../../src/gateway/credit/reservation.ts";
import type { Route, Usage } from "../../../src/gateway/models/model.ts";
import type { CallEmbeddings } from "../../../src/gateway/providers/embed.ts";
import type { EmbeddingAnswer, EmbeddingCall } from "../../../src/gateway/providers/embedding.ts";
import { credentialOf, type CallOptions, type CallProvider } from "../../../src/gateway/providers/http.ts";
import { drainMsMax } from "../../../src/gateway/limits.ts";
import {
  UpstreamFailure,
  type WholeAnswer,
  type ProviderAnswer,
  type ProviderCall,
  type ProviderEvent,
} from "../../../src/gateway/providers/provider.ts";
import type { Secret } from "../../../src/kernel/secret.ts";
import { end, FakeEvents, finish, text } from "../../support/providers/fake-events.ts";
import { providersOf } from "../catalog.ts";
import type { Chance } from "../chance.ts";
import { ownKeyIn, providerKey } from "../secrets.ts";
import { countInputs, estimateInputs } from "./embedding-counts.ts";
import type { Host } from "./host.ts";
import { nothingCounted, ownCost } from "./own-cost.ts";
import type { Recorder } from "../recorder.ts";
import type { EventOf } from "../../invariants/history.ts";

interface ProviderParts {
  /** The gateway that calls it; nothing reaches a dead one. */
  host: Host;
  chance: Chance;
  recorder: Recorder;
  openOwnKey(key: OwnKey): Secret;
  /** Called when a generation goes on with another key than the one that it began with. */
  onOtherPayer(): void;
}

/** What a call gets, whatever it asks for. */
interface Exchange<Answer> {
  route: Route;
  model: string;
  durationMs: () => number;
  answer: () => Answer;
  /** Records what is due if the call ends now without an answer. */
  due: () => void;
}

/** The duration of an answer: mostly short, sometimes very long. */
function someDurationMs(chance: Chance, isPrompt: boolean): number {
  if (isPrompt || chance.happens(0.6)) return chance.between(5, 400);
  return chance.happens(0.6) ? chance.between(400, 6_000) : chance.between(6_000, 60_000);
}

function isPrompt(chat: ProviderCall["chat"]): boolean {
  return chat["is_prompt"] === true;
}

export class Provider {
  readonly #parts: ProviderParts;
  /** Monotonic milliseconds. */
  readonly #calledAt = new Map<string, number>();
  /** The key that a generation's last call carried; null: the service's. */
  readonly #paidBy = new Map<string, string | null>();

  constructor(parts: ProviderParts) {
    this.#parts = parts;
  }

  readonly call: CallProvider = (reservation, call, options) =>
    this.#exchange(reservation, options, {
      route: call.route,
      model: String(call.chat["model"]),
      durationMs: () => someDurationMs(this.#parts.chance, isPrompt(call.chat)),
      answer: () => this.#answer(reservation, call),
      due: () => this.#due(call, 0),
    });

  readonly embed: CallEmbeddings = (reservation, call, options) =>
    this.#exchange(reservation, options, {
      route: call.route,
      model: "acme/embed",
      durationMs: () => someDurationMs(this.#parts.chance, false),
      answer: () => this.#embeddings(call),
      due: () => this.#owe(call, { ...nothingCounted, promptTokens: estimateInputs(call.inputs) }),
    });

  #exchange<Answer>(
    { generation }: Reservation,
    options: CallOptions | undefined,
    { route, model, durationMs, answer, due }: Exchange<Answer>,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#note(generation, route, model);
      const { clock } = this.#parts.host;
      this.#calledAt.set(generation, clock.monotonic());
      options?.onSent?.();
      due();
      const cancel = clock.after(durationMs(), () => {
        options?.givenUp?.listen(null);
        try {
          resolve(answer());
        } catch (error) {
          this.#nothingDue(generation);
          reject(error as Error);
        }
      });
      options?.givenUp?.listen(() => {
        cancel();
        due();
        reject(new UpstreamFailure("upstream_error", "the call was aborted"));
      });
    });
  }

  /** Records the call with the key that it really carries. */
  #note(generation: string, route: Route, model: string): void {
    const { recorder, openOwnKey, onOtherPayer } = this.#parts;
    const ownKey = ownKeyIn(credentialOf(route, { openOwnKey, providerKey }));
    const provider = { id: route.provider.id, ofModel: providersOf(model) };
    recorder.note({ kind: "called", generation, provider, ...(ownKey !== null && { ownKey }) });
    const before = this.#paidBy.get(generation);
    this.#paidBy.set(generation, ownKey);
    if (before !== undefined && before !== ownKey) onOtherPayer();
  }

  /** Fails at random; an own key is refused more often than the service's. */
  #mayFail(generation: string): void {
    const { chance } = this.#parts;
    const isOwn = this.#paidBy.get(generation) !== null;
    if (!chance.happens(isOwn ? 0.3 : 0.1)) return;
    const codes = ["upstream_error", "upstream_rejected", "upstream_rate_limited", "upstream_timeout"] as const;
    throw new UpstreamFailure(chance.pick(isOwn ? [...codes, "upstream_auth"] : codes), "at random");
  }

  #answer(reservation: Reservation, call: ProviderCall): ProviderAnswer {
    if (!isPrompt(call.chat)) this.#mayFail(reservation.generation);
    const usage = this.#count(reservation, call);
    if (call.streamed) return { kind: "stream", events: this.#stream(call, usage) };
    if (usage) this.#served(call, usage, boundOf(call, usage));
    const message: WholeAnswer["message"] = { role: "assistant", content: "some words", refusal: null };
    return { kind: "whole", answer: { message, finishReason: "stop", logprobs: null, usage } };
  }

  #embeddings(call: EmbeddingCall): EmbeddingAnswer {
    const { chance } = this.#parts;
    this.#mayFail(call.generation);
    const { promptTokens, isPossible, ...how } = countInputs(call.inputs, chance);
    if (promptTokens !== null && isPossible) this.#served(call, { ...nothingCounted, promptTokens }, how);
    const count = call.inputs.kind === "texts" ? call.inputs.texts.length : 0;
    const vectors = Array.from({ length: count }, () => Array.from({ length: call.dimensionsExpected }, () => chance.next()));
    return { vectors, promptTokens };
  }

  /** Counts within the reservation, except for a few calls that count more; null: it reports no count. */
  #count({ maxOutputTokens }: Reservation, { chat }: ProviderCall): Usage | null {
    const { chance } = this.#parts;
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
    const { chance, host } = this.#parts;
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
      if (event.kind === "failure") this.#nothingDue(call.generation);
      sent++;
      if (event.kind === "usage" && usage) this.#served(call, usage, { ...boundOf(call, usage), isPartial: true });
      if (event.kind === "end" && usage) this.#served(call, usage, boundOf(call, usage));
      stream.give(event);
      host.clock.after(chance.next() * gapMs, () => next(place + 1));
    };
    host.clock.after(chance.next() * gapMs, () => next(1));
    return stream;
  }

  /** Records the amount that is due if the client hangs up now: for the prompt and so many words. Weir reads a stream with reasoning on for a minute. */
  #due(call: ProviderCall, words: number, thought: Usage | null = null): void {
    const { generation, chat, maxOutputTokens } = call;
    const promptTokens = Number(chat["prompt_estimate"]);
    // A word is a token and a thirtieth for each further letter.
    const completionTokens = Math.min(Math.round(words * 1.1), maxOutputTokens);
    const isReadOn = this.#parts.host.clock.monotonic() - (this.#calledAt.get(generation) ?? 0) < drainMsMax;
    const isBilled = chat.model === "acme/thinker" && thought !== null && isReadOn;
    this.#owe(call, isBilled ? thought : { ...nothingCounted, promptTokens, completionTokens });
  }

  /** Nothing is due for a call with an own key. */
  #owe({ generation, route }: Pick<ProviderCall, "generation" | "route">, usage: Usage): void {
    const amount = this.#paidBy.get(generation) === null ? ownCost(route.prices, usage) : 0n;
    this.#parts.recorder.note({ kind: "owed", generation, amount });
  }

  /** Records that nothing is due, since the provider failed. */
  #nothingDue(generation: string): void {
    this.#parts.recorder.note({ kind: "owed", generation, amount: 0n });
  }

  #served(
    { generation, route }: Pick<ProviderCall, "generation" | "route">,
    usage: Usage,
    how: Partial<EventOf<"served">>,
  ): void {
    const cost = ownCost(route.prices, usage);
    const own = this.#paidBy.get(generation) === null ? {} : { isOnOwnKey: true as const };
    this.#parts.recorder.note({ kind: "served", generation, cost, ...own, ...how });
  }
}

function boundOf({ chat }: ProviderCall, { promptTokens }: Usage): { isAboveBound?: true } {
  return promptTokens > Number(chat["input_tokens_bound"]) ? { isAboveBound: true } : {};
}
