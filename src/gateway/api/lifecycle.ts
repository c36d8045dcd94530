/**
 * The life of a generation: opened in the journal before its provider is called, settled once however it ends, and then shown in a trace.
 * It promises that a process may die at any moment and the generation is still charged what it owes. For this it writes to the spool which
 * route is called, whether the request has left, and what has been delivered so far; `settle` writes the settlement, and only then the
 * client gets the end of its answer. The first call of `settle` counts, so that racing paths (a client that leaves, a shutdown, the last
 * event) need not know each other. A request that waits for a connection owes nothing. On a kept connection it counts as sent at once,
 * because its bytes leave with the call. How much usage is charged is not decided here: callers pass it (call/charged-usage.ts).
 */
import { raiseAlarm, measureGeneration } from "../../kernel/metrics.ts";
import type { Clock, StopSignal } from "../../kernel/clock.ts";
import type { EndingCode, GatewayError } from "../../kernel/errors.ts";
import { picoPerNano, type NanoUsd } from "../../kernel/money.ts";
import { type TraceStart, spanSince, traces, wallTimes, type TracedCall } from "../../kernel/traces.ts";
import type { Admission } from "../admission/message.ts";
import type { Reservation } from "../credit/reservation.ts";
import type { Endpoint, RouteAttempt } from "../field-parts.ts";
import type { Progress } from "../journal/progress.ts";
import type { Settlement } from "../journal/settlement.ts";
import { type OwedRoute, owedPrices } from "../journal/spool-line.ts";
import { chargeOf } from "../metering/settle.ts";
import type { ReportedUsage, Usage, Prices, Route } from "../models/model.ts";
import { tieredCost } from "../models/price.ts";
import type { Candidate } from "../models/candidate.ts";
import type { PromptRecorder } from "../prompts/prompt-recorder.ts";
import type { Attempt } from "./call/dispatch.ts";
import { noUsage } from "./call/charged-usage.ts";
import type { Gateway } from "./gateway.ts";

interface GenerationFacts {
  fingerprint: string;
  /** The id of the requested model. */
  model: string;
  streamed: boolean;
  /** Roughly the tokens of the request: charged if the process dies before the answer begins. */
  promptEstimate: number;
  /** The candidate that is called first; null: none may serve, and no provider is called. */
  candidate: Candidate | null;
  /** The workspace has routing on, so the log keeps the calls. */
  isRouted: boolean;
  /** null: traces are off. */
  trace: TraceStart | null;
  decision: Admission["decision"];
  /** Stored when the generation is settled; null: the workspace does not store prompts. */
  prompt: PromptRecorder | null;
  /** Absent: chat completions. */
  endpoint?: Endpoint;
}

interface GenerationOutcome {
  /** The candidate that served or was tried last; null: none was tried. */
  candidate: Candidate | null;
  usage: Usage;
  estimated: boolean;
  status: number;
  code: EndingCode | null;
  /** What the answer says of its error; absent: nothing. */
  error?: GatewayError | null;
  firstTokenMs: number | null;
}

export class GenerationLifecycle {
  /** Stops when the process shuts down and cannot wait any longer. */
  readonly stop: StopSignal;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Unix seconds; the same in every chunk of the answer. */
  readonly created: number;
  readonly #reservation: Reservation;
  readonly #facts: GenerationFacts;
  readonly #gateway: Gateway;
  #settlement: Settlement | null = null;
  /** The candidate of the current call. */
  #candidate: Candidate | null;
  /** The current call waits for a connection, and the spool says so. */
  #isConnecting = false;
  #calls = 0;
  /** Monotonic milliseconds: when the current call began. */
  #calledAt: number;
  #firstCallAt: number;
  #failed: readonly Attempt[] = [];
  #sentAt: number | null = null;
  #reported: ReportedUsage | null = null;
  #currentUsage: () => Usage;

  private constructor(reservation: Reservation, facts: GenerationFacts, gateway: Gateway) {
    this.stop = gateway.inFlight.begin(reservation);
    this.startedAt = gateway.clock.monotonic();
    this.created = Math.floor(gateway.clock.now() / 1_000);
    this.#reservation = reservation;
    this.#facts = facts;
    this.#gateway = gateway;
    this.#candidate = facts.candidate;
    this.#calledAt = this.startedAt;
    this.#firstCallAt = this.startedAt;
    this.#currentUsage = () => ({ ...noUsage, promptTokens: facts.promptEstimate });
    gateway.journal.progress.track(reservation.generation, facts.promptEstimate, () => this.#progress());
  }

  /** @throws GatewayError billing_unavailable when the journal cannot be written: the reservation is then released */
  static async open(reservation: Reservation, facts: GenerationFacts, gateway: Gateway): Promise<GenerationLifecycle> {
    const { fingerprint, model: requested, streamed, promptEstimate, candidate, endpoint } = facts;
    const owed = candidate === null ? {} : { owed: { ...owedRoute(candidate.route), promptTokens: promptEstimate } };
    const model = candidate?.model.id ?? requested;
    const differs = model === requested ? {} : { requested };
    const intent = { fingerprint, model, ...differs, streamed, ...(endpoint && { endpoint }), ...owed };
    try {
      await gateway.journal.begin(reservation, intent);
    } catch (error) {
      gateway.admission.release(reservation);
      throw error;
    }
    return new GenerationLifecycle(reservation, facts, gateway);
  }

  get prompt(): PromptRecorder | null {
    return this.#facts.prompt;
  }

  elapsedMs(): number {
    return this.#gateway.clock.monotonic() - this.startedAt;
  }

  /** Monotonic milliseconds: when the request of the current call was sent, which its provider may bill since; null: it has not been. */
  get sentAt(): number | null {
    return this.#sentAt;
  }

  /** The id of the request. */
  get request(): string {
    return this.#reservation.request;
  }

  /** What the provider of the current call counted before the first event of its stream; null: nothing. */
  get reported(): ReportedUsage | null {
    return this.#reported;
  }

  /** Call before each call of a provider. @throws GatewayError billing_unavailable when it cannot be recorded: nothing may be called */
  startCall(candidate: Candidate): void {
    const isOther = candidate !== this.#candidate;
    this.#candidate = candidate;
    this.#calls++;
    this.#calledAt = this.#gateway.clock.monotonic();
    if (this.#calls === 1) this.#firstCallAt = this.#calledAt;
    this.#reported = null;
    // As in the intent, the request counts as sent until it is known that it was not.
    this.#sentAt = this.#calledAt;
    if (isOther) this.#gateway.journal.progress.noteRoute(this.#reservation.generation);
    this.#sentAt = null;
  }

  /**
   * Call it at once after a call has begun. On a kept connection the request has been sent by then; otherwise it waits for a connection,
   * and nothing is owed if this process dies meanwhile.
   */
  noteUnlessSent(): void {
    this.#isConnecting = this.#sentAt === null;
    if (this.#isConnecting) this.#gateway.journal.progress.noteUnsent(this.#reservation.generation);
  }

  /** The provider had closed the kept connection, so it bills nothing until the request leaves on a new one. */
  noteResent(): void {
    this.#sentAt = null;
    this.noteUnlessSent();
  }

  /** @param failed the calls that failed; a call that fails later may be added to it */
  trackFailures(failed: readonly Attempt[]): void {
    this.#failed = failed;
  }

  /**
   * Call it before the request leaves. Its provider may bill it from then on, and so it is owed even if this process dies.
   * @throws GatewayError billing_unavailable when that cannot be recorded: the request must not leave
   */
  markSent(): void {
    this.#sentAt = this.#gateway.clock.monotonic();
    if (!this.#isConnecting) return;
    this.#isConnecting = false;
    try {
      this.#gateway.journal.progress.noteSent(this.#reservation.generation);
    } catch (error) {
      this.#sentAt = null;
      throw error;
    }
  }

  /** The provider has counted before its answer began. */
  noteReported(reported: ReportedUsage): void {
    this.#reported = reported;
  }

  /** @param currentUsage returns the usage to charge if the process died now */
  trackUsage(currentUsage: () => Usage): void {
    this.#currentUsage = currentUsage;
  }

  #progress(): Progress {
    const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = this.#currentUsage();
    const counts = { promptTokens, cachedTokens, cacheWriteTokens, completionTokens };
    const { candidate: first } = this.#facts;
    const current = this.#candidate;
    const route = current === null || current === first ? null : owedBy(current, first);
    return { sent: this.#sentAt !== null, ...counts, route };
  }

  /** Settles on the first call; later calls do nothing. Once it resolves, the client may get the end of the answer. */
  async settle(outcome: GenerationOutcome): Promise<void> {
    if (this.#settlement !== null) return;
    const { estimated, ...ending } = outcome;
    this.#currentUsage = () => noUsage;
    const { model, streamed, endpoint } = this.#facts;
    const durationMs = this.elapsedMs();
    const routing = this.#facts.isRouted ? { routing: this.#routing(outcome) } : {};
    const facts = { ...ending, usageEstimated: estimated, endpoint, streamed, durationMs, ...routing };
    this.#settlement = settlementOf(this.#reservation, model, facts);
    const written = this.#gateway.journal.end(this.#settlement);
    this.#coolDownExcess(outcome);
    const route = outcome.candidate?.route;
    if (route && outcome.status === 200 && outcome.code === null) {
      if (route.ownKey) this.#gateway.ownKeys.accepted(route.ownKey);
      else this.#gateway.serviceKeys.accepted(route.provider);
    }
    this.#gateway.inFlight.done(this.stop);
    this.prompt?.store();
    measureGeneration({
      provider: outcome.candidate?.route.provider.id ?? "none",
      code: outcome.code,
      durationMs,
      firstTokenMs: outcome.firstTokenMs,
    });
    this.#trace(outcome, this.#settlement);
    await written;
  }

  #trace({ candidate }: GenerationOutcome, settlement: Settlement): void {
    const { trace, decision, model: requestedModel } = this.#facts;
    if (trace === null) return;
    const calls = { failed: this.#failed, calls: this.#calls, firstCallAt: this.#firstCallAt, lastCallAt: this.#calledAt };
    const ended = { trace, decision, reservation: this.#reservation, settlement, requestedModel, candidate, ...calls };
    traceGeneration(ended, this.#gateway.clock);
  }

  /**
   * What the settlement charges, for the answer. Metering charges less only if the workspace's balance is less.
   * @throws Error before it is settled
   */
  get charge(): NanoUsd {
    if (this.#settlement === null) throw new Error("A generation that has not ended has no charge");
    return chargeOf(this.#settlement).cost;
  }

  /** When a provider counts more than was reserved, the service pays the rest: other routes are preferred for a while. */
  #coolDownExcess({ candidate, usage }: GenerationOutcome): void {
    const route = candidate?.route;
    if (!route?.prices || route.ownKey) return;
    if (tieredCost(route.prices, usage) > this.#reservation.amount * picoPerNano) this.#gateway.coolDown.begin(route);
  }

  #routing({ candidate, code }: GenerationOutcome): Settlement["routing"] {
    const { model } = this.#facts;
    // A call that was abandoned before it began is among the failures but was never made.
    const attempts = this.#failed.slice(0, this.#calls).map((one) => attemptOf(one.candidate, one.failure.code, one.ms));
    if (attempts.length < this.#calls && candidate !== null)
      attempts.push(attemptOf(candidate, code, this.#gateway.clock.monotonic() - this.#calledAt));
    return { requested: (candidate?.model.id ?? model) === model ? null : model, attempts };
  }

  /** `settle` for callers that cannot wait until the event loop's turn ends. */
  settleNow(outcome: GenerationOutcome): void {
    this.settle(outcome).catch((error: unknown) => {
      const facts = { generation: this.#reservation.generation, reason: String(error) };
      raiseAlarm(this.#gateway.log, "spool.failed", facts, "A settlement could not be made: its hold ends as unknown");
    });
    this.#gateway.journal.flush();
  }
}

/** The route that owes the cost, with its model where that is not the one of the intent. */
function owedBy(candidate: Candidate, first: Candidate | null): OwedRoute {
  const owed = owedRoute(candidate.route);
  return first?.model.id === candidate.model.id ? owed : { ...owed, model: candidate.model.id };
}

function attemptOf({ model, route }: Candidate, code: string | null, ms: number): RouteAttempt {
  return {
    provider: route.provider.id,
    model: model.id,
    own_key: route.ownKey !== undefined,
    code,
    ms: Math.max(0, Math.round(ms)),
  };
}

// The settlement

interface SettlementFacts {
  /** The candidate that served or was tried last; null: none was tried. */
  candidate: Candidate | null;
  /** Absent: the workspace has routing off. */
  routing?: Settlement["routing"];
  usage: Usage;
  usageEstimated: boolean;
  status: number;
  code: EndingCode | null;
  error?: GatewayError | null;
  streamed: boolean;
  firstTokenMs: number | null;
  durationMs: number;
  /** Absent: chat completions. */
  endpoint?: Endpoint | undefined;
}

const free: Prices = { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n };
const noRoute: OwedRoute = { provider: "none", prices: formatPrices(free) };

/** Keyed by route of the catalog. Every start and every end writes the route, and formatting its long prices is slow. */
const formatted = new WeakMap<Route, OwedRoute>();

/** The provider and its prices, as spool and settlement hold them. */
function owedRoute(route: Route): OwedRoute {
  const known = formatted.get(route);
  if (known) return known;
  const owed = formatRoute(route);
  formatted.set(route, owed);
  return owed;
}

function formatRoute({ provider, prices, ownKey }: Route): OwedRoute {
  const tiers = prices?.tiers?.map((tier) => ({ aboveInputTokens: tier.aboveInputTokens, ...formatPrices(tier) }));
  const owed = { prices: formatPrices(prices ?? free), ...(tiers && { tiers }) };
  if (ownKey === undefined) return { provider: provider.id, ...owed };
  return { provider: provider.id, prices: noRoute.prices, ownKey: { id: ownKey.id, ...owed } };
}

function formatPrices({ input, output, cacheRead, cacheWrite }: Prices): OwedRoute["prices"] {
  return {
    input: input.toString(),
    output: output.toString(),
    cacheRead: cacheRead.toString(),
    cacheWrite: cacheWrite.toString(),
  };
}

/**
 * Charges the prices of the route that served, in the tier that the counted prompt reached. A failure that delivered nothing has no usage
 * and costs nothing.
 * @param model the requested one, which the settlement names if no candidate was tried
 */
function settlementOf(reservation: Reservation, model: string, ending: SettlementFacts): Settlement {
  const owed = ending.candidate === null ? noRoute : owedRoute(ending.candidate.route);
  return {
    generation: reservation.generation,
    request: reservation.request,
    workspace: reservation.workspace,
    key: reservation.key,
    month: reservation.month,
    outcome: "settled",
    reserved: reservation.amount.toString(),
    admittedAt: reservation.admittedAt,
    model: ending.candidate?.model.id ?? model,
    provider: owed.provider,
    ...owedPrices(owed, ending.usage),
    usage: ending.usage,
    usageEstimated: ending.usageEstimated,
    status: ending.status,
    code: ending.code,
    streamed: ending.streamed,
    firstTokenMs: ending.firstTokenMs === null ? null : Math.max(0, Math.round(ending.firstTokenMs)),
    durationMs: Math.max(0, Math.round(ending.durationMs)),
    ...(reservation.block !== undefined && { block: reservation.block }),
    ...(reservation.claim && { claim: reservation.claim }),
    ...(ending.endpoint && { endpoint: ending.endpoint }),
    ...(ending.routing && { routing: ending.routing }),
    ...(ending.error && { message: ending.error.kept.message }),
  };
}

// The trace

/** What the lifecycle knows about a traced request. All times are those of the monotonic clock. */
interface EndedGeneration {
  trace: TraceStart;
  decision: { askedAt: number; decidedAt: number };
  reservation: Reservation;
  settlement: Settlement;
  requestedModel: string;
  /** When the provider was first called, and last. */
  firstCallAt: number;
  lastCallAt: number;
  /** The calls that failed; the last one may also be the current one. */
  failed: readonly Attempt[];
  calls: number;
  /** The candidate of the last call; null: none. */
  candidate: Candidate | null;
}

/** What traces call an endpoint. All others are a chat in another form. */
const operations: Partial<Record<Endpoint, "text_completion" | "embeddings">> = {
  completions: "text_completion",
  embeddings: "embeddings",
};

function traceGeneration(ended: EndedGeneration, clock: Clock): void {
  const { trace, decision, reservation, settlement, requestedModel } = ended;
  const wall = wallTimes(clock);
  const { usage, endpoint } = settlement;
  traces()?.generation({
    generation: reservation.generation,
    workspace: reservation.workspace,
    key: reservation.key,
    traceparent: trace.traceparent,
    path: trace.path,
    operation: (endpoint && operations[endpoint]) ?? "chat",
    model: requestedModel,
    streamed: settlement.streamed,
    from: wall(trace.receivedAt),
    to: wall(clock.monotonic()),
    admission: { from: wall(decision.askedAt), to: wall(decision.decidedAt) },
    calls: callsOf(ended, clock),
    firstTokenMs: settlement.firstTokenMs,
    status: settlement.status,
    code: settlement.code,
    tokens: {
      prompt: usage.promptTokens,
      cached: usage.cachedTokens,
      cacheWrite: usage.cacheWriteTokens,
      completion: usage.completionTokens,
    },
    charged: chargeOf(settlement).cost,
  });
}

/** A call that was abandoned before it began is among the failures but was never made. */
function callsOf({ failed, calls, candidate, settlement, firstCallAt, lastCallAt }: EndedGeneration, clock: Clock): TracedCall[] {
  const wall = wallTimes(clock);
  const made = failed.slice(0, calls).map(({ candidate: tried, failure, ms }, index): TracedCall => {
    const from = wall(index === calls - 1 ? lastCallAt : firstCallAt);
    return { ...addressOf(tried), code: failure.code, from, to: from + ms };
  });
  if (made.length >= calls || candidate === null) return made;
  return [...made, { ...addressOf(candidate), code: settlement.code, ...spanSince(lastCallAt, clock) }];
}

function addressOf({ route }: Candidate): Pick<TracedCall, "provider" | "model" | "baseUrl"> {
  return { provider: route.provider.id, model: route.upstreamModel, baseUrl: route.provider.baseUrl };
}
