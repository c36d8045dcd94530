/**
 * Stores what calls reveal about own keys: that the provider refused one or accepts it again, and when it last served. Requests do not wait
 * for it, and what cannot be stored is reported again by a later call. A refused key is still tried: the first answer makes it active
 * again. The admins get a mail about a refusal, in the transaction that stores it, and a provider that changes its mind with every call
 * causes few changes and few mails.
 */
import { change, changedFields } from "../../accounts/audit/change.ts";
import type { OwnKey } from "../../accounts/keys/record.ts";
import type { Database, Transaction } from "../../backing/backing.ts";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { keyRecordAgeMsMax, openedOwnKeysMax, ownKeyReportMs, ownKeyStatePauseMs, ownKeyUseMs } from "../limits.ts";
import { claimMail, moveState, updateLastUse } from "./store.ts";

interface ReportParts {
  sql: Database;
  clock: Clock;
  log: Logger;
  /** Puts a mail to the workspace's admins about the refusal into the transaction that stores it. */
  tellRefused(key: OwnKey, tx: Transaction): Promise<void>;
}

/** What this process last stored of a key, in monotonic milliseconds. */
interface Reported {
  usedAt: number;
  state: OwnKey["state"];
  stateAt: number;
}

export class KeyReports {
  /** Keyed by sealed text, so a replaced key starts over. */
  readonly #reported = new Map<string, Reported>();
  readonly #parts: ReportParts;

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  /** Call it when an answer was served with the key. */
  accepted(key: OwnKey): void {
    const now = this.#parts.clock.monotonic();
    const reported = this.#reportedOf(key, now);
    if (reported.state === "refused") this.#report(key, "active", reported);
    else if (now - reported.usedAt >= ownKeyUseMs) {
      this.#remember(key, { ...reported, usedAt: now });
      this.#store(key, updateLastUse({ id: key.id, at: new Date(this.#parts.clock.now()) }, this.#parts.sql));
    }
  }

  /** Call it when the provider refused the key. */
  refused(key: OwnKey): void {
    const reported = this.#reportedOf(key, this.#parts.clock.monotonic());
    if (reported.state === "active") this.#report(key, "refused", reported);
  }

  /** A state stored by this process counts until records have it; after that they may have another process's change. */
  #reportedOf(key: OwnKey, now: number): Reported {
    const reported = this.#reported.get(key.sealed) ?? { usedAt: -Infinity, state: key.state, stateAt: -Infinity };
    return now - reported.stateAt < keyRecordAgeMsMax ? reported : { ...reported, state: key.state };
  }

  /** A provider that changes its mind with every call causes few changes: a later call reports the rest. */
  #report(key: OwnKey, state: OwnKey["state"], reported: Reported): void {
    const now = this.#parts.clock.monotonic();
    if (now - reported.stateAt < ownKeyStatePauseMs) return;
    this.#remember(key, { ...reported, state, stateAt: now });
    this.#store(key, this.#move(key, state));
  }

  #remember({ sealed }: OwnKey, reported: Reported): void {
    if (this.#reported.size >= openedOwnKeysMax) this.#reported.clear();
    this.#reported.set(sealed, reported);
  }

  async #move(key: OwnKey, to: OwnKey["state"]): Promise<void> {
    const { clock, tellRefused } = this.#parts;
    await change({ kind: "service" }, this.#parts, async (tx) => {
      if (!(await moveState({ id: key.id, sealed: key.sealed, to }, tx))) return { result: undefined, event: null };
      if (to === "refused" && (await claimMail({ id: key.id, at: new Date(clock.now()) }, tx))) await tellRefused(key, tx);
      const changes = changedFields({ before: { state: to === "active" ? "refused" : "active" }, after: { state: to } });
      const event = to === "active" ? "provider.key.accepted" : "provider.key.refused";
      return { result: undefined, event: { event, workspace: key.workspace, target: key.id, changes } };
    });
  }

  #store(key: OwnKey, write: Promise<void>): void {
    const { clock, log } = this.#parts;
    withDeadline(clock, ownKeyReportMs, "Storing the use of an own key", write).catch((error: unknown) => {
      this.#reported.delete(key.sealed);
      log.warn({ event: "own_key.report.failed", ownKey: key.id, reason: String(error) }, "The use of an own key was not stored");
    });
  }
}

/** The mail to a workspace's admins when a provider refuses their own key. */
export function refusalMail(
  { provider, id }: Pick<OwnKey, "provider" | "id">,
  workspaceName: string,
): { subject: string; body: string } {
  return {
    subject: `Your own key for ${provider} was refused`,
    body: `The provider ${provider} refused the own key ${id} of the workspace "${workspaceName}", or its account.

Requests for this provider fail with upstream_auth until it accepts the key again. They are not made with another key.
Check the account at the provider, or replace or disable the key:

  provider-key test --id ${id}
  provider-key replace --id ${id} --key FILE
  provider-key disable --id ${id}
`,
  };
}
