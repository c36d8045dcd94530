/** A server that processes call over the network: the counters' store or the database. */
import type { Host } from "./host.ts";
import type { Owner, Scheduler } from "../scheduler.ts";
import type { NetworkConditions } from "./network-conditions.ts";

interface ServerParts {
  scheduler: Scheduler;
  conditions: NetworkConditions;
  /** The timeout of a call, in milliseconds. */
  deadlineMs: number;
  /** Makes the error for a caller that got no answer. */
  unavailable: () => Error;
}

export class Server implements Owner {
  isDead = false;
  frozenUntil = 0;
  readonly #parts: ServerParts;

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  /** A frozen server executes a call when it wakes, even if its caller no longer waits. */
  call<T>(caller: Host, work: () => Promise<T>): Promise<T> {
    const { scheduler, conditions, deadlineMs, unavailable } = this.#parts;
    return new Promise((resolve, reject) => {
      const cancel = caller.clock.after(deadlineMs, () => reject(unavailable()));
      const answer = (deliver: () => void): void => {
        if (conditions.isLost()) return;
        scheduler.plan(conditions.delayMs(), caller, () => {
          cancel();
          deliver();
        });
      };
      if (this.isDead) return answer(() => reject(unavailable()));
      if (conditions.isLost()) return;
      const arrive = (): void =>
        void work().then(
          (result) => answer(() => resolve(result)),
          (error: unknown) => answer(() => reject(error as Error)),
        );
      scheduler.plan(conditions.delayMs(), this, arrive);
    });
  }
}
