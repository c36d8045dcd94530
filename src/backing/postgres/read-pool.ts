/** Sessions for reads that may be some seconds old: of a replica, or of the primary while the replica is away or too far behind. */
import { DeadlineError } from "../../kernel/clock.ts";
import { Replica, type ReplicaParts } from "./replica.ts";
import type { Session } from "./session.ts";
import type { SessionPool, Sessions } from "./session-pool.ts";

export interface ReadPoolParts extends ReplicaParts {
  primary: Sessions;
  replica: SessionPool;
}

/** SQLSTATEs of a replica that cannot answer now: a conflict with what it replays, a shutdown, and a statement that writes. */
const passing = ["40001", "57P01", "57P02", "57P03", "25006"];
/** Of sockets and of postgres.js: no connection was made. */
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

  /** Of the primary: who keeps a session takes locks. */
  take(): ReturnType<Sessions["take"]> {
    return this.#parts.primary.take();
  }
}

/** A statement that took too long would take as long on the primary. */
function isPassing(error: unknown, used: Session | null): boolean {
  if (error instanceof DeadlineError) return false;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return used === null || !used.alive || passing.includes(code) || unconnected.test(code);
}
