import type { Clock } from "../../kernel/clock.ts";
import { databaseConnectionsMax, databaseConnectionWaitMsMax, databaseSessionIdleMsMax } from "../limits.ts";
import { DatabaseHosts } from "./hosts.ts";
import { Semaphore } from "./semaphore.ts";
import type { Session, SessionParts } from "./session.ts";

const closeSeconds = 2;

export interface Sessions {
  /** Runs `work` on a session of its own. @throws DeadlineError when none became free in time */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** A session until it is given back. @throws DeadlineError when none became free in time; Error when no host takes writes */
  take(): Promise<{ session: Session; giveBack: () => void }>;
}

/**
 * A small number of sessions, each with one user at a time; users wait in line for at most a second. One that a burst opened and nobody
 * used since is closed: the server keeps a process and its memory for each.
 */
export class SessionPool implements Sessions, AsyncDisposable {
  readonly #clock: Clock;
  readonly #hosts: DatabaseHosts;
  readonly #semaphore: Semaphore;
  readonly #open = new Set<Session>();
  /** The one that is idle for the longest time first. */
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

  /** They lead to a server that is gone, or that takes no writes any more. */
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

  /** The one used last; those that died while they were idle are forgotten. */
  #nextIdle(): Session | undefined {
    for (let next = this.#idle.pop(); next; next = this.#idle.pop()) {
      const { session } = next;
      if (session.alive) return session;
      this.#open.delete(session);
    }
    return undefined;
  }
}

/** SQLSTATE 25006: behind this address is a standby now, or a primary that is being replaced. */
function isReadOnly(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "25006";
}
