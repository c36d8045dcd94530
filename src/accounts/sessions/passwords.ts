/** Hashes and compares passwords, few at once: each takes a core for 30 ms and 19 MiB. */
import type { Clock } from "../../kernel/clock.ts";
import { FairSemaphore, type SemaphoreLimits } from "../quotas/fair-semaphore.ts";
import { passwordsHashedAtOnceMax, passwordsWaitingMax, passwordsWaitingPerNetworkMax, passwordWaitMs } from "../limits.ts";
import { hashWithArgon2, verifyWithArgon2 } from "./argon2.ts";
import { newToken } from "./token.ts";

const limits: SemaphoreLimits = {
  runningMax: passwordsHashedAtOnceMax,
  runningPerHolderMax: 1,
  waitingMax: passwordsWaitingMax,
  waitingPerHolderMax: passwordsWaitingPerNetworkMax,
  waitMs: passwordWaitMs,
};

export class Passwords {
  readonly #semaphore: FairSemaphore;
  /** Compared for unknown people, so that the time of an answer does not tell who is known. */
  #decoy: Promise<string> | null = null;

  constructor(clock: Clock) {
    this.#semaphore = new FairSemaphore({ clock, limits, busy: "Too many people sign in at this moment" });
  }

  /** @param holder for whom the work is done: no holder takes the time of all others @throws LimitReachedError */
  hash(password: string, holder: string): Promise<string> {
    return this.#run(holder, () => hashWithArgon2(password));
  }

  /** @param hash null: the person is unknown or has no password, which takes as long @throws LimitReachedError */
  verify(password: string, { hash, holder }: { hash: string | null; holder: string }): Promise<boolean> {
    return this.#run(holder, async () => {
      const isRight = await verifyWithArgon2(password, hash ?? (await (this.#decoy ??= hashWithArgon2(newToken()))));
      return isRight && hash !== null;
    });
  }

  async #run<T>(holder: string, work: () => Promise<T>): Promise<T> {
    const release = await this.#semaphore.acquire(holder);
    try {
      return await work();
    } finally {
      release();
    }
  }
}
