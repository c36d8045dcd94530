/** Turns to work in: round by workspace, then by person. The operator's lane is apart, so that the operator always gets in. */
import type { Clock } from "../../kernel/clock.ts";
import { FairSemaphore, type ReleaseSlot, type SemaphoreLimits } from "./fair-semaphore.ts";
import { isOperatorLane, type Lane } from "./lane.ts";

interface TurnOptions {
  clock: Clock;
  limits: SemaphoreLimits;
  /** The message of a refusal. */
  busy: string;
}

export class Turns {
  readonly #others: FairSemaphore;
  readonly #operator: FairSemaphore;

  constructor(options: TurnOptions) {
    this.#others = new FairSemaphore(options);
    this.#operator = new FairSemaphore(options);
  }

  /** @throws LimitReachedError */
  async take(lane: Lane): Promise<Turn> {
    return new Turn(await this.#of(lane).acquire(lane));
  }

  /** Whose bound keeps the lane from a turn now; null: none. */
  blockedBy(lane: Lane): ReturnType<FairSemaphore["blockedBy"]> {
    return this.#of(lane).blockedBy(lane);
  }

  #of(lane: Lane): FairSemaphore {
    return isOperatorLane(lane) ? this.#operator : this.#others;
  }
}

/** It ends once its holder has disposed of it and all work in it has ended. */
export class Turn implements Disposable {
  readonly #release: ReleaseSlot;
  #uses = 1;

  constructor(release: ReleaseSlot) {
    this.#release = release;
  }

  /** Lasts until the work has ended, even if its caller waits no longer. @returns the same work */
  keepFor<Result>(work: Promise<Result>): Promise<Result> {
    this.#uses++;
    work.then(
      () => this.#leave(),
      () => this.#leave(),
    );
    return work;
  }

  [Symbol.dispose](): void {
    this.#leave();
  }

  #leave(): void {
    if (--this.#uses === 0) this.#release();
  }
}
