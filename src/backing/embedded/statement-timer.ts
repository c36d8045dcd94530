/**
 * The time limit of statements in PGlite. PostgreSQL asks for a signal after `statement_timeout`; in PGlite that is a timer of the event
 * loop, which waits for the end of the very statement that it is to end. Statements that read or write files pass through here many
 * times: then a timer that is due fires, as a signal would. Computing alone is not ended: no statement of ours computes without reading.
 */
import type { PGlite } from "@electric-sql/pglite";

interface Armed {
  dueMs: number;
  fire: () => void;
}

/** What every access to a file is of these. */
const accesses = ["open", "read", "write", "llseek"] as const;

type FileSystem = Record<(typeof accesses)[number], (...parameters: unknown[]) => unknown>;

export class StatementTimer {
  readonly #armed = new Map<unknown, Armed>();
  #running = false;

  /** Timers of this thread that are set while a statement runs are PostgreSQL's; to be made before PGlite is. */
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

  /** Looks at the timers whenever this database uses a file. */
  attach(database: PGlite): void {
    const files = fileSystemOf(database);
    for (const access of accesses) {
      const original = files[access].bind(files);
      files[access] = (...parameters) => {
        this.#look();
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

  #look(): void {
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

/** Emscripten's: its calls into the system go through the properties of this object. */
function fileSystemOf({ Module: { FS } }: PGlite): FileSystem {
  return FS as unknown as FileSystem;
}
