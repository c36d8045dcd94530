/**
 * The hosts of a database, of which one takes writes: a primary and its standbys. postgres.js knows lists of hosts too, but connects anew
 * under the same object (session.ts), and asks one host after the other, so that a silent one takes the whole time.
 */
import { sleep, type Clock } from "../../kernel/clock.ts";
import { Secret } from "../../kernel/secret.ts";
import { hostAddresses } from "../../kernel/addresses/server-address.ts";
import { databaseHostMs, databaseNextHostMs } from "../limits.ts";
import { Session, type SessionParts } from "./session.ts";

export class DatabaseHosts {
  readonly #parts: Omit<SessionParts, "url">;
  readonly #clock: Clock;
  /** One address each, the one that last took writes first. */
  #urls: Secret[];

  constructor({ url, ...parts }: SessionParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
    this.#urls = hostAddresses(url.reveal()).map((address) => new Secret(withoutChoice(address)));
  }

  get areSeveral(): boolean {
    return this.#urls.length > 1;
  }

  /**
   * A session with the one host, which connects on first use, or with the first of several that takes writes.
   * @throws Error when none does in time
   */
  async open(): Promise<Session> {
    const [only, ...others] = this.#urls;
    if (only && others.length === 0) return new Session({ ...this.#parts, url: only });
    return await this.#race();
  }

  /** Each host is asked a little after the one before, or as soon as that one has failed. The first that takes writes wins. */
  async #race(): Promise<Session> {
    const over = new AbortController();
    const reasons: string[] = [];
    const attempts: Promise<Session>[] = [];
    for (const url of this.#urls) {
      const before = attempts.at(-1);
      const turn =
        before && Promise.race([sleep(this.#clock, attempts.length * databaseNextHostMs, over.signal), failed(before)]);
      attempts.push(this.#attempt(url, { turn, over: over.signal, reasons }));
    }
    try {
      return await Promise.any(attempts);
    } catch {
      throw new Error(`No host of the database takes writes: ${reasons.join("; ")}`);
    } finally {
      over.abort();
    }
  }

  async #attempt(
    url: Secret,
    { turn, over, reasons }: { turn: Promise<void> | undefined; over: AbortSignal; reasons: string[] },
  ): Promise<Session> {
    await turn;
    over.throwIfAborted();
    const session = new Session({ ...this.#parts, url });
    try {
      const asked = session.sql<{ takesWrites: boolean }[]>`
        SELECT NOT pg_is_in_recovery() AND NOT current_setting('transaction_read_only')::boolean AS "takesWrites"`;
      const [row] = await session.watch(databaseHostMs, session.outcome(asked));
      if (!row?.takesWrites) throw new Error("it is a standby");
      over.throwIfAborted();
      this.#urls = [url, ...this.#urls.filter((other) => other !== url)];
      return session;
    } catch (error) {
      session.drop();
      reasons.push(String(error));
      throw error;
    }
  }
}

function failed(attempt: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => void attempt.catch(resolve));
}

/** The choice is made here: postgres.js would make it again. */
function withoutChoice(address: string): string {
  const url = new URL(address);
  url.searchParams.delete("target_session_attrs");
  return url.href;
}
