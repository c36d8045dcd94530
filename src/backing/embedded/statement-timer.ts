/**
 * The time limit of statements in PGlite. PostgreSQL requests a signal after `statement_timeout`; in PGlite that is a timer of the event
 * loop, which fires only after the statement that it should end. Statements that read or write files call into this class many
 * times, and a timer that is due then fires as a signal would. A statement that only computes is not ended: we have none.
 */
import type { PGlite } from "@electric-sql/pglite";

interface Armed {
  dueMs: number;
  fire: () => void;
}

/** Every access to a file is one of these. */
const accesses = ["open", "read", "write", "llseek"] as const;

type FileSystem = Record<(typeof accesses)[number], (...parameters: unknown[]) => unknown>;

export class StatementTimer {
  readonly #armed = new Map<unknown, Armed>();
  #running = false;

  /** Timers that this thread sets while a statement runs are PostgreSQL's. Create this before PGlite. */
  constructor() {
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    const patched = {
      setTimeout: (fire: () => void, ms?: number): unknown => {
        const id = set(() => {
          this.#armed.delete(id);
          fire();
        }, ms);
        if (this.#running)
          this.#armed.set(id, { dueMs: performance.now() + (ms ?? 0), fire: () => this.#fireNow(id, fire, clear) });
        return id;
      },
      clearTimeout: (id: Parameters<typeof clear>[0]): void => {
        this.#armed.delete(id);
        clear(id);
      },
    };
    Object.assign(globalThis, patched);
  }

  /** Checks the timers whenever this database uses a file. */
  attach(database: PGlite): void {
    const files = fileSystemOf(database);
    for (const access of accesses) {
      const original = files[access].bind(files);
      files[access] = (...parameters) => {
        this.#check();
        return original(...parameters);
      };
    }
  }

  async run<T>(statement: () => Promise<T>): Promise<T> {
    this.#running = true;
    try {
      return await statement();
    } finally {
      this.#running = false;
    }
  }

  #check(): void {
    if (!this.#running || this.#armed.size === 0) return;
    const now = performance.now();
    for (const { dueMs, fire } of this.#armed.values()) if (dueMs <= now) fire();
  }

  #fireNow(id: ReturnType<typeof setTimeout>, fire: () => void, clear: typeof clearTimeout): void {
    this.#armed.delete(id);
    clear(id);
    fire();
  }
}

/** Emscripten's file system: its system calls go through the properties of this object. */
function fileSystemOf({ Module: { FS } }: PGlite): FileSystem {
  return FS as unknown as FileSystem;
}
