/** A provider that answers, fails or disconnects at random, and records each call and its counts. */
import type { OwnKey } from "../../../src/accounts/keys/record.ts";
import { holdMs } from "../../../src/backing/limits.ts";
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
import { countChat } from "./chat-counts.ts";
import { countInputs, estimateInputs } from "./embedding-counts.ts";
import type { Host } from "./host.ts";
import { chargedUsage, likelyTokens, nothingCounted, ownCost, wordTokens, type Produced } from "./own-cost.ts";
import type { Recorder } from "../recorder.ts";
import { connectMsMax, unpaidMax, type Timeouts } from "../variants/timeouts.ts";
import type { EventOf } from "../../invariants/history.ts";

interface ProviderParts {
  /** The gateway that calls it; nothing reaches a dead one. */
  host: Host;
  chance: Chance;
  recorder: Recorder;
  timeouts: Timeouts | null;
  /** The counters' clock. */
  countersNow(): number;
  /** The process that calls it. */
  gateway: string;
  openOwnKey(key: OwnKey): Secret;
  /** Called when a generation continues with a different key. */
  onOtherPayer(): void;
}

/** What a call gets, whatever it asks for. */
interface Exchange<Answer> {
  route: Route;
  model: string;
  /** Its provider answers at once. */
  isPrompt: boolean;
  durationMs: () => number;
  answer: () => Answer;
  /** Records what is due if the call ends now without an answer. */
  due: () => void;
  /** What a client has to pay that leaves after so long without an answer. */
  leaving: (ms: number) => Usage;
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
  /** When a generation's first call began, before there was a connection; monotonic milliseconds, as below. */
  readonly #begunAt = new Map<string, number>();
  readonly #calledAt = new Map<string, number>();
  /** Generations whose time was over while their gateway waited for a connection. */
  readonly #late = new Set<string>();
  /** The key that a generation's last call carried; null: the service's. */
  readonly #paidBy = new Map<string, string | null>();

  constructor(parts: ProviderParts) {
    this.#parts = parts;
  }

  readonly call: CallProvider = (reservation, call, options) =>
    this.#exchange(reservation, options, {
      route: call.route,
      model: String(call.chat["model"]),
      isPrompt: isPrompt(call.chat),
      durationMs: () => someDurationMs(this.#parts.chance, isPrompt(call.chat)),
      answer: () => this.#answer(reservation, call),
      due: () => this.#due(call, 0),
      leaving: (ms) => ({
        ...nothingCounted,
        promptTokens: Number(call.chat["prompt_estimate"]),
        completionTokens: likelyTokens(call, ms),
      }),
    });

  readonly embed: CallEmbeddings = (reservation, call, options) =>
    this.#exchange(reservation, options, {
      route: call.route,
      model: "acme/embed",
      isPrompt: false,
      durationMs: () => someDurationMs(this.#parts.chance, false),
      answer: () => this.#embeddings(call),
      due: () => this.#owe(call, { ...nothingCounted, promptTokens: estimateInputs(call.inputs) }),
      leaving: () => ({ ...nothingCounted, promptTokens: estimateInputs(call.inputs) }),
    });

  async #exchange<Answer>(
    reservation: Reservation,
    options: CallOptions | undefined,
    exchange: Exchange<Answer>,
  ): Promise<Answer> {
    const { timeouts, host } = this.#parts;
    const { generation } = reservation;
    this.#begunAt.set(generation, this.#begunAt.get(generation) ?? host.clock.monotonic());
    if (this.#late.has(generation)) throw new UpstreamFailure("upstream_timeout", "not done in time");
    const connection = exchange.isPrompt ? null : (timeouts?.connection() ?? null);
    if (connection !== null) {
      const begunAt = host.clock.monotonic();
      await elapsed(host, connection.ms, options?.givenUp);
      // A gateway that was frozen meanwhile finds that its time for connecting is over. So does one whose hold ended while it waited: the
      // counters' clock was set forward, which stands for time that the gateway sees. Then it is over for a second call, too.
      const hasHoldEnded = this.#parts.countersNow() - reservation.admittedAt >= holdMs;
      const isLate = hasHoldEnded || host.clock.monotonic() - begunAt >= connectMsMax;
      if (isLate) this.#late.add(generation);
      if (connection.fails || isLate) throw new UpstreamFailure("upstream_timeout", "no connection");
    }
    return this.#taken(reservation, options, exchange);
  }

  /** The provider has taken the request. */
  async #taken<Answer>(
    reservation: Reservation,
    options: CallOptions | undefined,
    { route, model, isPrompt: isSure, durationMs, answer, due, leaving }: Exchange<Answer>,
  ): Promise<Answer> {
    const { timeouts, host } = this.#parts;
    const { generation } = reservation;
    options?.onSent?.();
    this.#note(generation, route, model);
    const calledAt = host.clock.monotonic();
    this.#calledAt.set(generation, calledAt);
    due();
    const silenceMs = isSure ? null : (timeouts?.silenceMs() ?? null);
    try {
      await elapsed(host, silenceMs ?? durationMs(), options?.givenUp);
    } catch (error) {
      due();
      throw error;
    }
    try {
      if (silenceMs !== null) throw new UpstreamFailure("upstream_timeout", "silent");
      return answer();
    } catch (error) {
      this.#nothingDue(generation);
      if (error instanceof UpstreamFailure && error.code === "upstream_timeout")
        this.#timedOut(reservation, route, { delivered: nothingCounted, left: leaving(host.clock.monotonic() - calledAt) });
      throw error;
    }
  }

  /** Records a call that was sent and not answered in time. */
  #timedOut(
    { generation, workspace }: Pick<Reservation, "generation" | "workspace">,
    route: Route,
    { delivered, left }: { delivered: Usage; left: Usage },
  ): void {
    const { recorder, gateway } = this.#parts;
    const costOf = (usage: Usage): bigint => (this.#paidBy.get(generation) === null ? ownCost(route.prices, usage) : 0n);
    const costs = { delivered: costOf(delivered), due: costOf(left), allowance: unpaidMax };
    recorder.note({ kind: "timed out", generation, workspace, gateway, ...costs });
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
    const usage = countChat(reservation, call, this.#parts.chance);
    if (call.streamed) return { kind: "stream", events: this.#stream(reservation, call, usage) };
    const message: WholeAnswer["message"] = { role: "assistant", content: "some words", refusal: null };
    // By our estimate "words" is two tokens: it has three consonants in a row.
    this.#served(call, chargedUsage(usage, call, { tokens: 3 }), boundOf(call, usage));
    return { kind: "whole", answer: { message, finishReason: "stop", logprobs: null, usage } };
  }

  #embeddings(call: EmbeddingCall): EmbeddingAnswer {
    const { chance } = this.#parts;
    this.#mayFail(call.generation);
    const { promptTokens, isPossible, ...how } = countInputs(call.inputs, chance);
    const charged = promptTokens !== null && isPossible ? promptTokens : estimateInputs(call.inputs);
    this.#served(call, { ...nothingCounted, promptTokens: charged }, how);
    const count = call.inputs.kind === "texts" ? call.inputs.texts.length : 0;
    const vectors = Array.from({ length: count }, () => Array.from({ length: call.dimensionsExpected }, () => chance.next()));
    return { vectors, promptTokens };
  }

  /** Sends its events one by one, and may disconnect before its count, or fall silent until its gateway gives it up. */
  #stream(reservation: Reservation, call: ProviderCall, counted: Usage | null): FakeEvents {
    const { chance, host, timeouts } = this.#parts;
    const words = Array.from({ length: chance.between(1, 4) }, () => text("word "));
    const told = timeouts?.toldPrompt(counted?.promptTokens ?? 0, Number(call.chat["input_tokens_bound"])) ?? null;
    const usage = counted && { ...counted, promptTokens: told ?? counted.promptTokens };
    const telling: ProviderEvent[] =
      told === null ? [] : [{ kind: "usage", usage: { ...nothingCounted, promptTokens: told, completionTokens: null } }];
    const ending: ProviderEvent[] = usage ? [finish(), { kind: "usage", usage }, end] : [finish(), end];
    const breaks = chance.happens(0.15);
    const silenceMs = timeouts?.silenceMs() ?? null;
    const failure = new UpstreamFailure(silenceMs === null ? "upstream_error" : "upstream_timeout", "broken off at random");
    const isCut = breaks || silenceMs !== null;
    const events = [...telling, ...words, ...(isCut ? [{ kind: "failure" as const, failure }] : ending)];
    const stream = new FakeEvents(events.slice(0, 1));
    const gapMs = chance.pick([1, 50, 400, 4_000]);
    const all = { tokens: wordTokens(words.length), told };
    let sent = 1;
    const next = (place: number): void => {
      const event = events[place];
      if (event === undefined) return;
      if (stream.closed) {
        const taken = Math.min(sent - telling.length, words.length, stream.asked - telling.length) - 1;
        return this.#due(call, Math.max(0, taken), usage, told);
      }
      if (event.kind === "failure") this.#nothingDue(call.generation);
      if (event.kind === "failure" && silenceMs !== null) this.#fellSilent(reservation, call, all);
      sent++;
      if (event.kind === "usage" && usage && place > 0)
        this.#served(call, chargedUsage(usage, call, all), { ...boundOf(call, usage), isPartial: true });
      if (event.kind === "end") this.#served(call, chargedUsage(usage, call, all), boundOf(call, usage));
      stream.give(event);
      plan(place + 1);
    };
    const plan = (place: number): void => {
      const waitMs = chance.next() * gapMs;
      host.clock.after(events[place]?.kind === "failure" ? (silenceMs ?? waitMs) : waitMs, () => next(place));
    };
    plan(1);
    return stream;
  }

  /** The stream's gateway gives it up after all its words. */
  #fellSilent(reservation: Reservation, call: ProviderCall, all: Produced): void {
    const ms = this.#parts.host.clock.monotonic() - (this.#calledAt.get(call.generation) ?? 0);
    const delivered = chargedUsage(null, call, all);
    const completionTokens = Math.max(delivered.completionTokens, likelyTokens(call, ms));
    this.#timedOut(reservation, call.route, { delivered, left: { ...delivered, completionTokens } });
  }

  /**
   * Records the amount that is due if the client hangs up now: for the prompt and this many words. Weir reads a stream with reasoning on
   * for a minute after the client hung up, which it can do once the call has begun.
   */
  #due(call: ProviderCall, words: number, thought: Usage | null = null, told: number | null = null): void {
    const { generation, chat } = call;
    const least = chargedUsage(null, call, { tokens: wordTokens(words), told });
    const isReadOn = this.#parts.host.clock.monotonic() - (this.#begunAt.get(generation) ?? 0) < drainMsMax;
    const isBilled = chat.model === "acme/thinker" && thought !== null && isReadOn;
    this.#owe(call, isBilled ? chargedUsage(thought, call, { tokens: 0, told }) : least);
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

function boundOf({ chat }: ProviderCall, usage: Usage | null): { isAboveBound?: true } {
  return (usage?.promptTokens ?? 0) > Number(chat["input_tokens_bound"]) ? { isAboveBound: true } : {};
}

/** @throws UpstreamFailure if the gateway gives the call up meanwhile */
function elapsed({ clock }: Host, ms: number, givenUp: CallOptions["givenUp"]): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      givenUp?.listen(null);
      resolve();
    });
    givenUp?.listen(() => {
      cancel();
      reject(new UpstreamFailure("upstream_error", "the call was aborted"));
    });
  });
}
