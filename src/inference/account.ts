/** One generation's account: opened in the book before its provider is called, settled once, however it ends. */
import type { Reservation } from "../credit/reservation.ts";
import { measureGeneration } from "../kernel/metrics.ts";
import type { Stop } from "../kernel/stop.ts";
import type { Route, Usage } from "../models/model.ts";
import type { OpenPrompt } from "../prompts/open-prompt.ts";
import type { Gateway } from "./gateway.ts";
import { settlementOf } from "./settle.ts";

export interface AccountFacts {
  fingerprint: string;
  /** The catalog's id. */
  model: string;
  streamed: boolean;
  /** Stored when the generation is settled; null: its workspace stores none. */
  prompt: OpenPrompt | null;
}

export interface Settling {
  /** The route that served or was tried last; null: none was. */
  route: Route | null;
  usage: Usage;
  estimated: boolean;
  status: number;
  code: string | null;
  firstTokenMs: number | null;
}

export class Account {
  /** The process cannot wait any longer. */
  readonly stop: Stop;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Unix seconds, the same in every chunk of the answer. */
  readonly created: number;
  readonly #reservation: Reservation;
  readonly #facts: AccountFacts;
  readonly #gateway: Gateway;
  #settled = false;

  private constructor(reservation: Reservation, facts: AccountFacts, gateway: Gateway) {
    this.stop = gateway.live.begin(reservation);
    this.startedAt = gateway.clock.monotonic();
    this.created = Math.floor(gateway.clock.now() / 1_000);
    this.#reservation = reservation;
    this.#facts = facts;
    this.#gateway = gateway;
  }

  /** @throws GatewayError billing_unavailable when the book cannot be written */
  static async open(reservation: Reservation, facts: AccountFacts, gateway: Gateway): Promise<Account> {
    const { fingerprint, model, streamed } = facts;
    await gateway.book.begin(reservation, { fingerprint, model, streamed });
    return new Account(reservation, facts, gateway);
  }

  get prompt(): OpenPrompt | null {
    return this.#facts.prompt;
  }

  elapsedMs(): number {
    return this.#gateway.clock.monotonic() - this.startedAt;
  }

  /** The first call counts. When it resolves the client may have the end of the answer. */
  async settle(settling: Settling): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    const { estimated, ...ending } = settling;
    const { model, streamed } = this.#facts;
    const durationMs = this.elapsedMs();
    const written = this.#gateway.book.end(
      settlementOf(this.#reservation, model, { ...ending, usageEstimated: estimated, streamed, durationMs }),
    );
    this.#gateway.live.done(this.stop);
    this.prompt?.keep();
    measureGeneration({ provider: settling.route?.provider.id ?? "none", durationMs, firstTokenMs: settling.firstTokenMs });
    await written;
  }

  /** As `settle`, for who cannot wait for the end of the event loop's turn. */
  settleNow(settling: Settling): void {
    void this.settle(settling);
    this.#gateway.book.flush();
  }
}
