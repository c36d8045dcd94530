/**
 * Stores what calls reveal about the service's keys: that a provider refuses one or its account, and accepts it again. The list of providers
 * then says so, and the key is still tried, since the account may be paid or the key restored at the provider at any time. Requests do not
 * wait for it. A provider that changes its mind with every call, or refuses one model alone, is reported once a minute by each gateway;
 * what could not be stored is reported by a later call. The alarm `upstream.auth` has each refusal.
 */
import type { Queries } from "../../backing/backing.ts";
import type { Notification } from "../../backing/bus.ts";
import { type Clock, withDeadline } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { ownKeyReportMs, serviceKeyReportPauseMs } from "../limits.ts";
import type { ProviderRecord } from "../models/model.ts";
import { refusalIn, type TrialOutcome } from "../providers/key-trial.ts";
import type { UpstreamFailure } from "../providers/provider.ts";
import { updateTested } from "./store.ts";

interface ReportParts {
  sql: Queries;
  clock: Clock;
  log: Logger;
  /** Makes every process read the state of providers again. */
  notify(topic: Notification): void;
}

type ReportedProvider = Pick<ProviderRecord, "id" | "refused">;

export class ServiceKeyReports {
  /** Monotonic milliseconds, by provider. The catalog bounds their number. */
  readonly #reportedAt = new Map<string, number>();
  readonly #parts: ReportParts;

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  /** Call it when an answer was served with the service's key. */
  accepted({ id, refused }: ReportedProvider): void {
    if (refused) this.#report(id, "accepted");
  }

  /** Call it with the failure by which a provider refused the service's key. */
  refused({ id, refused }: ReportedProvider, failure: UpstreamFailure): void {
    const outcome = refused ? null : refusalIn(failure);
    if (outcome !== null) this.#report(id, outcome);
  }

  #report(provider: string, outcome: TrialOutcome): void {
    const { sql, clock, log, notify } = this.#parts;
    const now = clock.monotonic();
    if (now - (this.#reportedAt.get(provider) ?? -Infinity) < serviceKeyReportPauseMs) return;
    this.#reportedAt.set(provider, now);
    const write = updateTested({ provider, outcome, at: clock.now() }, sql).then(() => notify("checks-changed"));
    withDeadline(clock, ownKeyReportMs, "Storing how a provider takes the service's key", write).catch((error: unknown) => {
      this.#reportedAt.delete(provider);
      log.warn({ event: "service_key.report.failed", provider, reason: String(error) }, "A provider's refusal was not stored");
    });
  }
}
