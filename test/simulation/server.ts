/** A server that others call over the network: the counters' store, the database. */
import type { Host } from "./host.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import type { NetworkConditions } from "./network-conditions.ts";

interface ServerParts {
  scheduler: Scheduler;
  conditions: NetworkConditions;
  /** How long a caller waits, in milliseconds. */
  deadlineMs: number;
  /** What a caller is told who got no answer. */
  unavailable: () => Error;
}

export class Server implements Owner {
  isDead = false;
  frozenUntil = 0;
  readonly #parts: ServerParts;

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  /** What is sent to a frozen one is done when it wakes, whether or not anybody still waits for it. */
  call<T>(caller: Host, work: () => Promise<T>): Promise<T> {
    const { scheduler, conditions, deadlineMs, unavailable } = this.#parts;
    return new Promise((resolve, reject) => {
      const cancel = caller.clock.after(deadlineMs, () => reject(unavailable()));
      const answer = (tell: () => void): void => {
        if (conditions.isLost()) return;
        scheduler.plan(conditions.delayMs(), caller, () => {
          cancel();
          tell();
        });
      };
      if (this.isDead) return answer(() => reject(unavailable()));
      if (conditions.isLost()) return;
      const arrive = (): void =>
        void work().then(
          (told) => answer(() => resolve(told)),
          (error: unknown) => answer(() => reject(error as Error)),
        );
      scheduler.plan(conditions.delayMs(), this, arrive);
    });
  }
}
