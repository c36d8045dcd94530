/** One generation's account: opened in the journal before its provider is called, settled once, however it ends. */
import type { Reservation } from "../credit/reservation.ts";
import type { Progress } from "../journal/progress.ts";
import { raiseAlarm } from "../../kernel/alarm.ts";
import { measureGeneration } from "../../kernel/metrics.ts";
import type { StopSignal } from "../../kernel/stop-signal.ts";
import type { Route, Usage } from "../models/model.ts";
import { picoPerNano } from "../../kernel/money.ts";
import { chargedCost } from "../models/price.ts";
import type { PromptRecorder } from "../prompts/prompt-recorder.ts";
import type { Gateway } from "./gateway.ts";
import { owedRoute, settlementOf } from "./settle.ts";
import { noUsage } from "./call/charged-usage.ts";

export interface GenerationFacts {
  fingerprint: string;
  /** The catalog's id. */
  model: string;
  streamed: boolean;
  /** The request's tokens, estimated. */
  promptEstimate: number;
  /** The route that is called first; null: none may serve, and no provider is called. */
  route: Route | null;
  /** Stored when the generation is settled; null: its workspace stores none. */
  prompt: PromptRecorder | null;
}

export interface GenerationOutcome {
  /** The route that served or was tried last; null: none was. */
  route: Route | null;
  usage: Usage;
  estimated: boolean;
  status: number;
  code: string | null;
  firstTokenMs: number | null;
}

export class GenerationLifecycle {
  /** The process cannot wait any longer. */
  readonly stop: StopSignal;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Unix seconds, the same in every chunk of the answer. */
  readonly created: number;
  readonly #reservation: Reservation;
  readonly #facts: GenerationFacts;
  readonly #gateway: Gateway;
  #settled = false;
  /** The route that is being called, or serves. */
  #route: Route | null;
  /** Its provider has the request, or is about to. */
  #sent = false;
  #currentUsage: () => Usage;

  private constructor(reservation: Reservation, facts: GenerationFacts, gateway: Gateway) {
    this.stop = gateway.inFlight.begin(reservation);
    this.startedAt = gateway.clock.monotonic();
    this.created = Math.floor(gateway.clock.now() / 1_000);
    this.#reservation = reservation;
    this.#facts = facts;
    this.#gateway = gateway;
    this.#route = facts.route;
    this.#currentUsage = () => ({ ...noUsage, promptTokens: facts.promptEstimate });
    gateway.journal.track(reservation.generation, () => this.#progress());
  }

  /** @throws GatewayError billing_unavailable when the journal cannot be written */
  static async open(reservation: Reservation, facts: GenerationFacts, gateway: Gateway): Promise<GenerationLifecycle> {
    const { fingerprint, model, streamed, promptEstimate, route } = facts;
    const owed = route === null ? {} : { owed: { ...owedRoute(route), promptTokens: promptEstimate } };
    await gateway.journal.begin(reservation, { fingerprint, model, streamed, ...owed });
    return new GenerationLifecycle(reservation, facts, gateway);
  }

  get prompt(): PromptRecorder | null {
    return this.#facts.prompt;
  }

  elapsedMs(): number {
    return this.#gateway.clock.monotonic() - this.startedAt;
  }

  /** A provider is about to be called, or another one after the first has failed. */
  startCall(route: Route): void {
    this.#route = route;
    this.#sent = false;
  }

  /** The request is on its way to the provider, which may bill it from here on. */
  markSent(): void {
    this.#sent = true;
  }

  /** @param currentUsage what would be charged for what has been delivered */
  trackUsage(currentUsage: () => Usage): void {
    this.#currentUsage = currentUsage;
  }

  #progress(): Progress {
    const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = this.#currentUsage();
    const counts = { promptTokens, cachedTokens, cacheWriteTokens, completionTokens };
    const route = this.#route === this.#facts.route ? null : this.#route;
    return { sent: this.#sent, ...counts, route: route && owedRoute(route) };
  }

  /** The first call counts. When it resolves the client may have the end of the answer. */
  async settle(outcome: GenerationOutcome): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    const { estimated, ...ending } = outcome;
    this.#currentUsage = () => noUsage;
    const { model, streamed } = this.#facts;
    const durationMs = this.elapsedMs();
    const written = this.#gateway.journal.end(
      settlementOf(this.#reservation, model, { ...ending, usageEstimated: estimated, streamed, durationMs }),
    );
    this.#coolDownExcess(outcome);
    this.#gateway.inFlight.done(this.stop);
    this.prompt?.store();
    measureGeneration({ provider: outcome.route?.provider.id ?? "none", durationMs, firstTokenMs: outcome.firstTokenMs });
    await written;
  }

  /** A provider that counts more than was reserved costs us the rest: others are preferred for a while. */
  #coolDownExcess({ route, usage }: GenerationOutcome): void {
    const isExcess = route?.prices && chargedCost(route.prices, usage) > this.#reservation.amount * picoPerNano;
    if (isExcess) this.#gateway.coolDown.begin(route);
  }

  /** As `settle`, for who cannot wait for the end of the event loop's turn. */
  settleNow(outcome: GenerationOutcome): void {
    this.settle(outcome).catch((error: unknown) => {
      const facts = { generation: this.#reservation.generation, reason: String(error) };
      raiseAlarm(this.#gateway.log, "spool.failed", facts, "A settlement could not be made: its hold ends as unknown");
    });
    this.#gateway.journal.flush();
  }
}
