/**
 * Sessions for reads that may be a few seconds old: on a replica while it lags less than two seconds, otherwise on the primary. The lag is
 * measured by positions in the write-ahead log: the primary is asked first, so a replica that keeps up has reached its position by the time
 * it is asked. A read whose replica was lost meanwhile runs once more on the primary. A statement that took too long does not, since it
 * would take as long there.
 */
import { DeadlineError, withDeadline, type Clock } from "../../kernel/clock.ts";
import { errorCode } from "../../kernel/error-code.ts";
import type { Logger } from "../../kernel/log.ts";
import { databaseReadCheckMs, databaseReadLagMsMax, databaseReadWaitMs } from "../limits.ts";
import type { SessionPool, Sessions } from "./session-pool.ts";
import type { Session } from "./session.ts";

interface ReadPoolParts extends ReplicaParts {
  primary: Sessions;
  replica: SessionPool;
}

/** SQLSTATEs of a replica that cannot answer now: a conflict with what it replays, a shutdown, and a statement that writes. */
const passing = ["40001", "57P01", "57P02", "57P03", "25006"];
/** Codes of sockets and of postgres.js: no connection was made. */
const unconnected = /^(?:E[A-Z]+|CONNECT[A-Z_]*)$/;

export class ReadPool implements Sessions {
  readonly #parts: ReadPoolParts;
  readonly #replica: Replica;

  constructor(parts: ReadPoolParts) {
    this.#parts = parts;
    this.#replica = new Replica(parts);
  }

  /** Runs `work` once more, on the primary, when the replica was lost meanwhile: reads may be repeated. */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const { primary, replica } = this.#parts;
    if (!(await this.#replica.isUsable())) return await primary.use(work);
    let used: Session | null = null;
    try {
      return await replica.use((session) => {
        used = session;
        return work(session);
      });
    } catch (error) {
      if (!isPassing(error, used)) throw error;
      this.#replica.distrust();
      return await primary.use(work);
    }
  }

  /** A session on the primary: a caller that keeps a session takes locks. */
  take(): ReturnType<Sessions["take"]> {
    return this.#parts.primary.take();
  }
}

/** A statement that took too long would take as long on the primary. */
function isPassing(error: unknown, used: Session | null): boolean {
  if (error instanceof DeadlineError) return false;
  const code = errorCode(error);
  return used === null || !used.alive || passing.includes(code) || unconnected.test(code);
}

interface Sample {
  /** When the primary was asked, in monotonic milliseconds. */
  at: number;
  /** The position of its write-ahead log then. */
  position: bigint;
}

interface ReplicaParts {
  primary: Pick<SessionPool, "use">;
  replica: Pick<SessionPool, "use">;
  clock: Clock;
  log: Logger;
}

/** Whether a replica may serve reads: it answers, and its data is at most a few seconds old. */
class Replica {
  readonly #parts: ReplicaParts;
  /** The primary's latest positions, none older than a replica may be. */
  #samples: Sample[] = [];
  #isUsable = false;
  #lookedAt = -Infinity;
  #looking: Promise<void> | null = null;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  /** Never rejects. A result is reused for a second. */
  async isUsable(): Promise<boolean> {
    if (this.#parts.clock.monotonic() - this.#lookedAt >= databaseReadCheckMs) {
      await (this.#looking ??= this.#look().finally(() => (this.#looking = null)));
    }
    return this.#isUsable;
  }

  /** A read failed on it, so the next check decides again. */
  distrust(): void {
    this.#tell(false, "it failed");
  }

  async #look(): Promise<void> {
    const { primary, replica, clock } = this.#parts;
    const at = clock.monotonic();
    const oldest = at - databaseReadLagMsMax;
    // The primary first: a replica that keeps up has reached its position by the time it is asked.
    const ahead = await this.#positionOf(primary).catch(() => null);
    const reached = await this.#positionOf(replica).catch(() => null);
    this.#samples = [...this.#samples, ...(ahead === null ? [] : [{ at, position: ahead }])].filter(
      (sample) => sample.at >= oldest,
    );
    this.#lookedAt = clock.monotonic();
    if (reached === null) this.#tell(false, "it does not answer");
    // Without a primary, the replica has the newest data.
    else if (ahead === null) this.#tell(true, "the primary does not answer");
    else
      this.#tell(
        this.#samples.some(({ position }) => position <= reached),
        "it is behind",
      );
  }

  async #positionOf(pool: Pick<SessionPool, "use">): Promise<bigint> {
    const asked = pool.use((session) =>
      session.watch(
        databaseReadWaitMs,
        session.outcome(session.sql<{ position: bigint }[]>`
          SELECT pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, '0/0')::bigint
            AS position`),
      ),
    );
    const [row] = await withDeadline(this.#parts.clock, databaseReadWaitMs, "A position in the log of changes", asked);
    if (!row) throw new Error("The database has no position");
    return row.position;
  }

  #tell(isUsable: boolean, reason: string): void {
    if (isUsable === this.#isUsable) return;
    this.#isUsable = isUsable;
    const { log } = this.#parts;
    if (isUsable) log.info({ event: "replica.used" }, "Reads go to the replica");
    else log.warn({ event: "replica.left", reason }, "Reads go to the primary");
  }
}
