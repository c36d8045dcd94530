import { databaseConnectionsMax, databaseConnectionWaitMsMax } from "../limits.ts";
import { Semaphore } from "./semaphore.ts";
import { Session, type SessionParts } from "./session.ts";

const closeSeconds = 2;

/** A small number of sessions, each with one user at a time; users wait in line for at most a second. */
export class SessionPool implements AsyncDisposable {
  readonly #parts: SessionParts;
  readonly #semaphore: Semaphore;
  readonly #open = new Set<Session>();
  readonly #idle: Session[] = [];

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#semaphore = new Semaphore({
      places: databaseConnectionsMax,
      waitMsMax: databaseConnectionWaitMsMax,
      clock: parts.clock,
    });
  }

  /** Runs `work` on a session of its own. @throws DeadlineError when none became free in time */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const { session, giveBack } = await this.take();
    try {
      return await work(session);
    } finally {
      giveBack();
    }
  }

  /** A session until it is given back. @throws DeadlineError when none became free in time */
  async take(): Promise<{ session: Session; giveBack: () => void }> {
    const release = await this.#semaphore.acquire();
    const session = this.#nextIdle() ?? new Session(this.#parts);
    this.#open.add(session);
    const giveBack = (): void => {
      if (session.alive) this.#idle.push(session);
      else this.#open.delete(session);
      release();
    };
    return { session, giveBack };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open].map((session) => session.alive && session.sql.end({ timeout: closeSeconds })));
    for (const session of this.#open) session.drop();
  }

  /** The one used last; those that died while they were idle are forgotten. */
  #nextIdle(): Session | undefined {
    for (let session = this.#idle.pop(); session; session = this.#idle.pop()) {
      if (session.alive) return session;
      this.#open.delete(session);
    }
    return undefined;
  }
}
