/**
 * Gets an answer to an admitted request: a whole answer, a stream whose first event has arrived, or a failure. Nothing has reached the
 * client yet, so the answer of a second call is as good as the first; only the answer that is served is charged. There is one retry at
 * most, since each call may be billed, and only where it may help. It goes to the same route or to another candidate, depending on whom the
 * failure concerns (`nextCandidate`). If the transport sends a request again because a kept connection closed, that is the retry. A request
 * whose thoughts the provider refuses goes once more without them, since the client cannot take them out of its conversation; a request
 * without thoughts does not, because a provider's text may quote the client's. A client that streams waits at most 15 seconds for a first
 * byte; then its stream begins without the provider, and whatever the provider answers, even a failure, becomes an event. A client that
 * leaves before there is anything to send ends the call only where that saves money: a whole answer is waited for, since its provider bills
 * it anyway, a stream only if and as long as it would be drained (answer/drains.ts).
 */
import { type Clock, StopSignal } from "../../../kernel/clock.ts";
import type { Reservation } from "../../credit/reservation.ts";
import { firstEventMsMax } from "../../limits.ts";
import { type Candidate, sharesCredential } from "../../models/candidate.ts";
import type { ReportedUsage } from "../../models/model.ts";
import {
  type ProviderEventStream,
  UpstreamFailure,
  type EventReceiver,
  type WholeAnswer,
  type ChatBody,
  type ProviderAnswer,
  type ProviderCall,
  isGivenUp,
  type ProviderEvent,
} from "../../providers/provider.ts";
import { hasThoughts } from "../../providers/wire/requests.ts";
import { givesBack } from "../../tool-call-id.ts";
import type { AcquireDrainSlot } from "../answer/drains.ts";
import { mergeUsage } from "../answer/relay.ts";
import type { Candidates } from "./route-plan.ts";

export interface DispatchOptions extends AttemptsOptions {
  /** Stops when the process shuts down and cannot wait any longer. */
  stop: StopSignal;
  acquireDrainSlot: AcquireDrainSlot;
}

export type DispatchResult =
  | Exclude<AttemptsResult, { kind: "stream" }>
  /** `quiet`: the provider has not sent an event yet; its failures are now events of the stream. */
  | { kind: "stream"; candidate: Candidate; calledAt: number; events: ProviderEventStream; quiet: boolean; failed: Attempt[] }
  /** The client left and the call was aborted. */
  | { kind: "disconnected"; candidate: Candidate; failed: Attempt[] };

/** Rejects only with errors that are not a provider's failure. */
export async function dispatch(options: DispatchOptions): Promise<DispatchResult> {
  const { streamed, clientSignal, stop, acquireDrainSlot, clock } = options;
  const attempts = new Attempts(options);
  using _watching = watchDisconnect({ call: attempts, streamed, clientSignal, stop, acquireDrainSlot, clock });
  const opening = attempts.run();
  const opened = streamed ? await openedWithin(clock, opening, clientSignal) : await opening;
  if (opened === "quiet") return deferredStream(attempts, opening);
  if (opened.kind === "failed" && clientSignal.aborted && attempts.givenUp) {
    return { kind: "disconnected", candidate: opened.candidate, failed: opened.failed };
  }
  return opened.kind === "stream" ? { ...opened, quiet: false } : opened;
}

/** A client waits at most 15 s for a first byte. A client that has left gets none. */
async function openedWithin(
  clock: Clock,
  opening: Promise<AttemptsResult>,
  clientSignal: AbortSignal,
): Promise<AttemptsResult | "quiet"> {
  let cancel = (): void => {};
  const quiet = new Promise<"quiet">((resolve) => {
    cancel = clock.after(firstEventMsMax, () => clientSignal.aborted || resolve("quiet"));
  });
  try {
    return await Promise.race([opening, quiet]);
  } finally {
    cancel();
  }
}

function deferredStream(attempts: Attempts, opening: Promise<AttemptsResult>): DispatchResult {
  attempts.disableRetry();
  const events = new DeferredStream({ opening, abort: () => attempts.abort() });
  const { candidate, calledAt, failed } = attempts;
  return { kind: "stream", candidate, calledAt, events, quiet: true, failed };
}

interface AbortableCall {
  readonly candidate: Candidate;
  abort(): void;
}

interface DisconnectOptions {
  call: AbortableCall;
  streamed: boolean;
  /** The request's signal. */
  clientSignal: AbortSignal;
  /** Stops when the process shuts down and cannot wait any longer. */
  stop: StopSignal;
  acquireDrainSlot: AcquireDrainSlot;
  clock: Clock;
}

/**
 * Watches for a client that leaves, until disposed: from then on the stream watches, or the call has ended. The listener stays on the
 * signal, because removing it costs as much as adding it and the signal ends with the request; disposing drops the listener's references.
 */
function watchDisconnect({
  call: watched,
  streamed,
  clientSignal,
  stop,
  acquireDrainSlot,
  clock,
}: DisconnectOptions): Disposable {
  let call: AbortableCall | null = watched;
  let release = (): void => {};
  let cancelTimer = (): void => {};
  const onDisconnect = (): void => {
    if (call === null) return;
    const slot = acquireDrainSlot(call.candidate, false);
    if (slot === null) return call.abort();
    release = slot.release;
    cancelTimer = clock.after(slot.until - clock.monotonic(), () => call?.abort());
  };
  if (streamed) clientSignal.addEventListener("abort", onDisconnect);
  // The client left before the request was sent: the provider has nothing to bill yet.
  if (clientSignal.aborted) call.abort();
  stop.listen(() => call?.abort());
  return {
    [Symbol.dispose]() {
      call = null;
      stop.listen(null);
      cancelTimer();
      release();
    },
  };
}

interface DeferredStreamParts {
  opening: Promise<AttemptsResult>;
  /** Aborts the opening. */
  abort(): void;
}

/** A stream whose response starts before the provider has answered: the call's outcome, even a failure, becomes an event. */
class DeferredStream implements ProviderEventStream {
  /** null: the stream is open. */
  #parts: DeferredStreamParts | null;
  #events: ProviderEventStream | null = null;
  #over = false;

  constructor(parts: DeferredStreamParts) {
    this.#parts = parts;
  }

  next(receiver: EventReceiver): void {
    if (this.#over) receiver.take([]);
    else if (this.#events !== null) this.#events.next(receiver);
    else if (this.#parts !== null) void this.#open(this.#parts, receiver);
  }

  async cancel(): Promise<void> {
    this.#over = true;
    if (this.#events !== null) return this.#events.cancel();
    this.#parts?.abort();
    const opened = await this.#parts?.opening;
    if (opened?.kind === "stream") await opened.events.cancel();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }

  async #open({ opening }: DeferredStreamParts, receiver: EventReceiver): Promise<void> {
    const opened = await opening.catch((error: unknown) => threw(error));
    if (this.#over || opened.kind === "whole") return receiver.take([]);
    if (opened.kind === "failed") {
      this.#over = true;
      return receiver.take([{ kind: "failure", failure: opened.failure }]);
    }
    this.#parts = null;
    this.#events = opened.events;
    opened.events.next(receiver);
  }
}

function threw(error: unknown): { kind: "failed"; failure: UpstreamFailure } {
  return { kind: "failed", failure: new UpstreamFailure("upstream_error", "opening the stream threw", null, error) };
}

// The calls of one request. A stream counts as an answer once its first event with content has arrived: some providers send a role or
// a count before they fail.

export interface Attempt {
  candidate: Candidate;
  failure: UpstreamFailure;
  /** From the call to its failure. */
  ms: number;
}

interface CallSignals {
  /** Aborts the call while it is not answered. */
  givenUp: StopSignal;
  /** Called when the request is being sent to the provider. */
  onSent(): void;
}

/** @param call to the candidate's route */
export type CallRoute = (call: ProviderCall, candidate: Candidate, signals: CallSignals) => Promise<ProviderAnswer>;

interface AttemptsOptions {
  reservation: Pick<Reservation, "generation">;
  /** What is sent for a candidate. */
  requestFor(candidate: Candidate): Pick<ProviderCall, "chat" | "maxOutputTokens" | "wants">;
  streamed: boolean;
  /** In order of preference. */
  candidates: Candidates;
  fallbacks: boolean;
  callRoute: CallRoute;
  /** Called with the current provider's counts that precede the first event of its stream. */
  onUsage(usage: ReportedUsage): void;
  /** Called with each failed attempt, before it is retried or answered. */
  onFailed?(failure: UpstreamFailure, candidate: Candidate): void;
  /** Called when the provider had closed the connection, so that the request has to be sent again. */
  onResent(): void;
  /** The request's signal: for a client that has left nothing is tried again. */
  clientSignal: AbortSignal;
  clock: Clock;
}

type AttemptsResult =
  /** `calledAt`: monotonic milliseconds when this candidate was called. */
  | { kind: "whole"; candidate: Candidate; calledAt: number; answer: WholeAnswer; failed: Attempt[] }
  | { kind: "stream"; candidate: Candidate; calledAt: number; events: ProviderEventStream; failed: Attempt[] }
  | { kind: "failed"; candidate: Candidate; failure: UpstreamFailure; failed: Attempt[] };

class Attempts {
  readonly #options: AttemptsOptions;
  readonly #failed: Attempt[] = [];
  readonly #givenUp = new StopSignal();
  #candidate: Candidate;
  /** No other call follows the current one. */
  #isLast = false;
  #withoutThoughts = false;
  #calledAt: number;
  /** The request of the current call is being sent. */
  #sent = false;

  constructor(options: AttemptsOptions) {
    this.#options = options;
    this.#candidate = options.candidates[0];
    this.#calledAt = options.clock.monotonic();
  }

  /** The candidate of the current or last call. */
  get candidate(): Candidate {
    return this.#candidate;
  }

  get failed(): Attempt[] {
    return this.#failed;
  }

  /** Monotonic milliseconds: when the current candidate was called. */
  get calledAt(): number {
    return this.#calledAt;
  }

  /** `abort` was called. */
  get givenUp(): boolean {
    return this.#givenUp.stopped;
  }

  /** The current call is the last one. */
  disableRetry(): void {
    this.#isLast = true;
  }

  /** Aborts the current call, or the stream before its first event. */
  abort(): void {
    this.#isLast = true;
    this.#givenUp.stop();
  }

  /** Rejects only with errors that are not a provider's failure. */
  async run(): Promise<AttemptsResult> {
    const { clock } = this.#options;
    for (;;) {
      const candidate = this.#candidate;
      try {
        const answer = await this.#call();
        const served = { candidate, calledAt: this.#calledAt, failed: this.#failed };
        if (answer.kind === "whole") return { kind: "whole", answer: answer.answer, ...served };
        return { kind: "stream", events: await this.#opened(answer.events), ...served };
      } catch (failure) {
        if (!(failure instanceof UpstreamFailure)) throw failure;
        this.#options.onFailed?.(failure, candidate);
        this.#failed.push({ candidate, failure, ms: clock.monotonic() - this.#calledAt });
        const next = this.#next(failure, candidate);
        if (next === null) return { kind: "failed", candidate, failure, failed: this.#failed };
        this.#candidate = next;
        this.#withoutThoughts = failure.isOfThoughts;
        this.#isLast = true;
      }
    }
  }

  /** @returns the candidate of the retry; null: there is none */
  #next(failure: UpstreamFailure, failed: Candidate): Candidate | null {
    const { candidates, clientSignal, fallbacks, requestFor } = this.#options;
    if (this.#isLast || clientSignal.aborted) return null;
    if (failure.isOfThoughts && givesThoughtsBack(requestFor(failed).chat)) return failed;
    return fallbacks ? nextCandidate({ failure, sent: this.#sent, failed, candidates }) : null;
  }

  /** @throws UpstreamFailure when the call was aborted before */
  #call(): Promise<ProviderAnswer> {
    const { reservation, requestFor, streamed, callRoute, onResent: noteResent, clock } = this.#options;
    const { generation } = reservation;
    const candidate = this.#candidate;
    const givenUp = this.#givenUp;
    if (givenUp.stopped) throw new UpstreamFailure("upstream_error", "the call was aborted before it began");
    this.#calledAt = clock.monotonic();
    this.#sent = false;
    const onSent = (): void => void (this.#sent = true);
    const second = this.#failed.length > 0;
    const onResent = (): void => {
      this.#isLast = true;
      noteResent();
    };
    const request = { ...requestFor(candidate), streamed, withoutThoughts: this.#withoutThoughts };
    const call = { generation, route: candidate.route, ...request, second, onResent };
    return callRoute(call, candidate, { givenUp, onSent });
  }

  /** @returns the stream once its first event has arrived. @throws UpstreamFailure */
  async #opened(events: ProviderEventStream): Promise<ProviderEventStream> {
    this.#givenUp.listen(() => void events.cancel().catch(() => {}));
    try {
      return await withFirstEvent(events, this.#options.onUsage);
    } finally {
      this.#givenUp.listen(null);
    }
  }
}

/** Whether what is sent has earlier thoughts of the model. */
function givesThoughtsBack({ messages }: ChatBody): boolean {
  return messages.some((message) => hasThoughts(message) || givesBack(message));
}

interface NextOptions {
  failure: UpstreamFailure;
  /** The failed call's request had been sent. */
  sent: boolean;
  failed: Candidate;
  /** In order of preference. */
  candidates: readonly Candidate[];
}

/**
 * The candidate of the retry. A failed provider may do better at a second call. A rate limit concerns the provider's credential, or one of
 * its models. A refused credential and a provider that takes no connection concern all of its models. A rejected request is not sent again,
 * nor is one that a provider accepted and the gateway abandoned: the provider may bill its work, and the next one would do as much.
 * @returns null: no retry may help
 */
function nextCandidate({ failure, sent, failed, candidates }: NextOptions): Candidate | null {
  if (sent && isGivenUp(failure)) return null;
  const others = candidates.filter((candidate) => candidate !== failed);
  const elsewhere = others.find((candidate) => !sharesCredential(candidate, failed)) ?? null;
  switch (failure.code) {
    case "upstream_error":
      return others[0] ?? failed;
    case "upstream_rate_limited":
      return elsewhere ?? others.find(({ model }) => model.id !== failed.model.id) ?? null;
    case "upstream_auth":
    case "upstream_timeout":
      return elsewhere;
    case "upstream_rejected":
      return null;
  }
}

/**
 * Waits for the first event that is neither a usage count nor a role, or the end of a thought, that a failure follows at once: some
 * providers send these before they fail. Until then a failure is an ordinary error.
 * @param onUsage gets the counts meanwhile: a client that leaves now, or a successor of this process, is charged by them
 * @returns the stream from its beginning
 * @throws UpstreamFailure when it fails or ends there
 */
async function withFirstEvent(
  events: ProviderEventStream,
  onUsage: (usage: ReportedUsage) => void,
): Promise<ProviderEventStream> {
  let usage: ReportedUsage | null = null;
  for (;;) {
    const received = await new Promise<readonly ProviderEvent[]>((resolve) => events.next({ take: resolve }));
    if (received.length === 0) throw new UpstreamFailure("upstream_error", "the stream ended before it began");
    // The first event with content: if it is a failure, nothing has been delivered.
    const failsFirst = received.find((event) => event.kind !== "usage" && !saysNothing(event))?.kind === "failure";
    for (const [index, event] of received.entries()) {
      if (event.kind === "failure") throw event.failure;
      if (event.kind !== "usage" && saysNothing(event) && failsFirst) continue;
      if (event.kind !== "usage") return new Replay(usage, received.slice(index), events);
      usage = mergeUsage(usage, event.usage);
      onUsage(usage);
    }
  }
}

/** Whether it is the role alone, with which most providers begin, or the end of a thought that no text came before. */
function saysNothing(event: ProviderEvent): boolean {
  if (event.kind === "thought") return true;
  if (event.kind !== "delta" || event.finishReason !== null || event.logprobs !== undefined) return false;
  return Object.entries(event.delta).every(([name, value]) => name === "role" || value === "" || value === null);
}

class Replay implements ProviderEventStream {
  readonly #events: ProviderEventStream;
  #seen: readonly ProviderEvent[] | null;

  constructor(usage: ReportedUsage | null, seen: readonly ProviderEvent[], events: ProviderEventStream) {
    this.#seen = usage === null ? seen : [{ kind: "usage", usage }, ...seen];
    this.#events = events;
  }

  next(receiver: EventReceiver): void {
    const seen = this.#seen;
    this.#seen = null;
    if (seen === null) this.#events.next(receiver);
    else receiver.take(seen);
  }

  cancel(): Promise<void> {
    return this.#events.cancel();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }
}
