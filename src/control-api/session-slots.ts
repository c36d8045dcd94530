/** Bounds what the browsers of people call at once. The operator token comes from the machine itself, and has no such bound. */
import { FairSemaphore } from "../accounts/quotas/fair-semaphore.ts";
import type { Principal } from "../accounts/members/principal.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Endpoint } from "./endpoint.ts";
import {
  controlBodyBytesMax,
  sessionCallsAtOnceMax,
  sessionCallsPerPersonMax,
  sessionCallsWaitingMax,
  sessionCallsWaitingPerPersonMax,
  sessionCallWaitMs,
  sessionFilesAtOnceMax,
  sessionFilesPerPersonMax,
  sessionFilesWaitingMax,
  sessionFilesWaitingPerPersonMax,
  sessionFileWaitMs,
} from "./limits.ts";

const callLimits = {
  runningMax: sessionCallsAtOnceMax,
  runningPerHolderMax: sessionCallsPerPersonMax,
  waitingMax: sessionCallsWaitingMax,
  waitingPerHolderMax: sessionCallsWaitingPerPersonMax,
  waitMs: sessionCallWaitMs,
};
const fileLimits = {
  runningMax: sessionFilesAtOnceMax,
  runningPerHolderMax: sessionFilesPerPersonMax,
  waitingMax: sessionFilesWaitingMax,
  waitingPerHolderMax: sessionFilesWaitingPerPersonMax,
  waitMs: sessionFileWaitMs,
};

export class SessionSlots {
  readonly #calls: FairSemaphore;
  /** Bodies of many megabytes are held in memory while they arrive. */
  readonly #files: FairSemaphore;

  constructor(clock: Clock) {
    this.#calls = new FairSemaphore({ clock, limits: callLimits, busy: "Too many calls run at this moment" });
    this.#files = new FairSemaphore({ clock, limits: fileLimits, busy: "Too many files arrive at this moment" });
  }

  /** @returns the slot, which its disposal gives back @throws LimitReachedError */
  async acquire(principal: Principal, endpoint: Pick<Endpoint, "bodyBytesMax" | "completes">): Promise<Disposable> {
    // A chat has the limits of requests to models.
    if (principal.provedAt === undefined || endpoint.completes) return slotOf(() => {});
    const holder = principal.kind === "person" ? principal.email : "operator";
    const slots = endpoint.bodyBytesMax > controlBodyBytesMax ? this.#files : this.#calls;
    return slotOf(await slots.acquire(holder));
  }
}

function slotOf(release: () => void): Disposable {
  return { [Symbol.dispose]: release };
}
