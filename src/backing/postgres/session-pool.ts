/**
 * A few sessions on the one host of a database that takes writes, each with one user at a time; users queue for at most a second. Where
 * there are several hosts, a primary and its standbys, each is asked a little after the one before, and the first that takes writes wins;
 * when it no longer does, idle sessions are dropped and the hosts are asked again. postgres.js knows lists of hosts too, but reconnects
 * under the same object (session.ts), and asks one host after the other, so that a silent one uses up the whole time.
 */
import { hostAddresses } from "../../kernel/addresses.ts";
import { type Clock, DeadlineError, sleep } from "../../kernel/clock.ts";
import { errorCode } from "../../kernel/error-code.ts";
import { Secret } from "../../kernel/secret.ts";
import {
  databaseConnectionsMax,
  databaseConnectionWaitMsMax,
  databaseSessionIdleMsMax,
  databaseHostMs,
  databaseNextHostMs,
} from "../limits.ts";
import { Session, type SessionParts } from "./session.ts";

const closeSeconds = 2;

export interface Sessions {
  /** Runs `work` on its own session. @throws DeadlineError when none became free in time */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** A session, to be given back. @throws DeadlineError when none became free in time; Error when no host takes writes */
  take(): Promise<{ session: Session; giveBack: () => void }>;
}

/** A session opened in a burst and unused since is closed: the server keeps a process and its memory for each. */
export class SessionPool implements Sessions, AsyncDisposable {
  readonly #clock: Clock;
  readonly #hosts: DatabaseHosts;
  readonly #semaphore: Semaphore;
  readonly #open = new Set<Session>();
  /** The longest idle one first. */
  readonly #idle: { session: Session; sinceMs: number }[] = [];

  constructor(parts: SessionParts) {
    this.#clock = parts.clock;
    this.#hosts = new DatabaseHosts(parts);
    this.#semaphore = new Semaphore({
      places: databaseConnectionsMax,
      waitMsMax: databaseConnectionWaitMsMax,
      clock: parts.clock,
    });
  }

  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const { session, giveBack } = await this.take();
    try {
      return await work(session);
    } catch (error) {
      if (isReadOnly(error)) session.drop();
      if (!session.alive && (isReadOnly(error) || this.#hosts.areSeveral)) this.#dropIdle();
      throw error;
    } finally {
      giveBack();
    }
  }

  async take(): Promise<{ session: Session; giveBack: () => void }> {
    const release = await this.#semaphore.acquire();
    const session = this.#nextIdle() ?? (await this.#openOne(release));
    this.#open.add(session);
    const giveBack = (): void => {
      const now = this.#clock.monotonic();
      if (session.alive) this.#idle.push({ session, sinceMs: now });
      else this.#open.delete(session);
      release();
      this.#closeIdle(now);
    };
    return { session, giveBack };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open].map((session) => session.alive && session.sql.end({ timeout: closeSeconds })));
    for (const session of this.#open) session.drop();
  }

  async #openOne(release: () => void): Promise<Session> {
    try {
      return await this.#hosts.open();
    } catch (error) {
      release();
      throw error;
    }
  }

  /** They are connected to a server that is gone or no longer takes writes. */
  #dropIdle(): void {
    for (const { session } of this.#idle.splice(0)) {
      session.drop();
      this.#open.delete(session);
    }
  }

  #closeIdle(now: number): void {
    while (this.#idle[0] && now - this.#idle[0].sinceMs > databaseSessionIdleMsMax) {
      const session = this.#idle.shift()?.session;
      if (session === undefined) return;
      this.#open.delete(session);
      session.sql.end({ timeout: closeSeconds }).catch(() => {});
    }
  }

  /** The one used last; those that died while idle are dropped. */
  #nextIdle(): Session | undefined {
    for (let next = this.#idle.pop(); next; next = this.#idle.pop()) {
      const { session } = next;
      if (session.alive) return session;
      this.#open.delete(session);
    }
    return undefined;
  }
}

/** SQLSTATE 25006: this address is now a standby, or a primary that is being replaced. */
function isReadOnly(error: unknown): boolean {
  return errorCode(error) === "25006";
}

/** Lets at most `places` callers in at a time; later ones queue in order for at most `waitMsMax`. */
class Semaphore {
  readonly #clock: Clock;
  readonly #waitMsMax: number;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor({ places, waitMsMax, clock }: { places: number; waitMsMax: number; clock: Clock }) {
    this.#free = places;
    this.#waitMsMax = waitMsMax;
    this.#clock = clock;
  }

  /**
   * Waits for a place.
   * @returns a function that gives it back, to be called once
   * @throws DeadlineError when none became free in time
   */
  acquire(): Promise<() => void> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(() => this.#release());
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        cancel();
        resolve(() => this.#release());
      };
      const cancel = this.#clock.after(this.#waitMsMax, () => {
        this.#waiting.delete(enter);
        reject(new DeadlineError(`No database connection became free within ${this.#waitMsMax} ms`));
      });
      this.#waiting.add(enter);
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** The hosts of a database, of which one takes writes. */
class DatabaseHosts {
  readonly #parts: Omit<SessionParts, "url">;
  readonly #clock: Clock;
  /** One address each, beginning with the one that last took writes. */
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
   * A session on the only host, which connects on first use, or on the first of several that takes writes.
   * @throws Error when none does in time
   */
  async open(): Promise<Session> {
    const [only, ...others] = this.#urls;
    if (only && others.length === 0) return new Session({ ...this.#parts, url: only });
    return await this.#race();
  }

  /** Each host is asked a little after the previous one, or as soon as that one has failed. The first that takes writes wins. */
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
