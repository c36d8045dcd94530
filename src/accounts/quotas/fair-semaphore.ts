/**
 * A semaphore that is fair among workspaces, then among people: both have their own bounds, and waiting calls are served in turn. When the
 * queue is full, the workspace with the most waiting calls gives way, so that many calls of one do not keep others out. `Turns` hands out
 * its slots as disposables. The operator has a separate lane and so always gets in.
 */
import type { Clock } from "../../kernel/clock.ts";
import { LimitReachedError } from "../errors.ts";
import { type Lane, isOperatorLane } from "./lane.ts";

export interface SemaphoreLimits {
  runningMax: number;
  /** Slots of a lane's group. Absent: only its members have bounds. */
  runningPerGroupMax?: number;
  /** Slots of a lane's member. */
  runningPerHolderMax: number;
  waitingMax: number;
  waitingPerHolderMax: number;
  /** The longest wait. */
  waitMs: number;
  /**
   * A group that holds slots gets another one only while more are free than it holds, so that it takes as many groups as slots to hold all
   * of them (the dynamic thresholds of Choudhury and Hahne, with the factor 1).
   */
  leavesRoom?: boolean;
  /** When the queue is full, the call that has waited longest is refused instead of the new one, which is more likely to be honest. */
  refusesOldest?: boolean;
}

/** Releases the slot; a second call does nothing. */
export type ReleaseSlot = () => void;

interface Waiting {
  lane: Lane;
  start(): void;
  refuse(status: 429 | 503): void;
}

/** By member; the last one served comes last. */
type Members = Map<string, Waiting[]>;

export class FairSemaphore {
  readonly #clock: Clock;
  readonly #limits: SemaphoreLimits;
  readonly #busy: string;
  readonly #runningOfGroups = new HolderCounts();
  readonly #running = new HolderCounts();
  /** By group; the last one served comes last. */
  readonly #waiting = new Map<string, Members>();
  #runningCount = 0;
  #waitingCount = 0;

  /** @param busy the message of the error */
  constructor({ clock, limits, busy }: { clock: Clock; limits: SemaphoreLimits; busy: string }) {
    this.#clock = clock;
    this.#limits = limits;
    this.#busy = busy;
  }

  /**
   * @param holder a string is a lane whose group has that one member
   * @throws LimitReachedError 429 if the lane has too many waiting, 503 if all together do, or if the wait was too long
   */
  acquire(holder: string | Lane): Promise<ReleaseSlot> {
    const lane = typeof holder === "string" ? { group: holder, member: holder } : holder;
    if (this.blockedBy(lane) === null) return Promise.resolve(this.#begin(lane));
    const { waitingMax, waitingPerHolderMax } = this.#limits;
    const own = this.#waiting.get(lane.group)?.get(lane.member) ?? [];
    if (own.length >= waitingPerHolderMax && !this.#refuseOldest(own)) return Promise.reject(this.#refusal(429));
    if (this.#waitingCount >= waitingMax && !this.#makeRoom(lane)) return Promise.reject(this.#refusal(503));
    return this.#wait(lane);
  }

  /** Whose bound keeps the lane from a slot now; null: none. */
  blockedBy({ group, member }: Lane): "member" | "group" | "all" | null {
    const { runningMax, runningPerGroupMax = Infinity, runningPerHolderMax, leavesRoom = false } = this.#limits;
    if (this.#running.of(member) >= runningPerHolderMax) return "member";
    const own = this.#runningOfGroups.of(group);
    const free = runningMax - this.#runningCount;
    if (own >= runningPerGroupMax || (leavesRoom && own > 0 && own >= free)) return "group";
    return free <= 0 ? "all" : null;
  }

  #wait(lane: Lane): Promise<ReleaseSlot> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        cancel();
        this.#remove(waiting);
      };
      const waiting: Waiting = {
        lane,
        start: () => {
          leave();
          resolve(this.#begin(lane));
        },
        refuse: (status) => {
          leave();
          reject(this.#refusal(status));
        },
      };
      const cancel = this.#clock.after(this.#limits.waitMs, () => waiting.refuse(503));
      const members = this.#waiting.get(lane.group) ?? new Map<string, Waiting[]>();
      members.set(lane.member, [...(members.get(lane.member) ?? []), waiting]);
      this.#waiting.set(lane.group, members);
      this.#waitingCount++;
    });
  }

  #begin({ group, member }: Lane): ReleaseSlot {
    this.#runningCount++;
    this.#runningOfGroups.add(group, 1);
    this.#running.add(member, 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#runningCount--;
      this.#runningOfGroups.add(group, -1);
      this.#running.add(member, -1);
      this.#startNext();
    };
  }

  /** Starts the first call of the next member of the next group, both of which then come after all others. */
  #startNext(): void {
    for (const [group, members] of this.#waiting) {
      for (const [member, [first]] of members) {
        if (first === undefined || this.blockedBy(first.lane) !== null) continue;
        first.start();
        toEnd(members, member);
        toEnd(this.#waiting, group);
        return;
      }
    }
  }

  /** Refuses the newest call of the group with the most waiting ones. @returns false if that is the lane's own group */
  #makeRoom({ group }: Lane): boolean {
    const fullest = [...this.#waiting].toSorted(([, a], [, b]) => sizeOf(a) - sizeOf(b)).at(-1);
    if (fullest === undefined) return false;
    const [name, members] = fullest;
    const most = [...members.values()].toSorted((a, b) => a.length - b.length).at(-1) ?? [];
    if (this.#refuseOldest(most)) return true;
    if (name === group || sizeOf(members) <= sizeOf(this.#waiting.get(group)) + 1) return false;
    most.at(-1)?.refuse(429);
    return true;
  }

  #refuseOldest([first]: readonly Waiting[]): boolean {
    if (this.#limits.refusesOldest !== true) return false;
    first?.refuse(503);
    return true;
  }

  #remove(waiting: Waiting): void {
    const { group, member } = waiting.lane;
    const members = this.#waiting.get(group);
    const left = members?.get(member)?.filter((one) => one !== waiting) ?? [];
    if (left.length > 0) members?.set(member, left);
    else members?.delete(member);
    if (members?.size === 0) this.#waiting.delete(group);
    this.#waitingCount--;
  }

  #refusal(status: 429 | 503): LimitReachedError {
    return new LimitReachedError(this.#busy, { status, retryAfterMs: this.#limits.waitMs });
  }
}

interface TurnOptions {
  clock: Clock;
  limits: SemaphoreLimits;
  /** The message of a refusal. */
  busy: string;
}

/** Turns to work: round robin by workspace, then by person. */
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

  /** Keeps the turn until the work has ended, even if its caller no longer waits. @returns the same work */
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

/** A count for each holder, such as a key or a workspace; holders at zero take no memory. */
export class HolderCounts {
  readonly #counts = new Map<string, number>();

  of(holder: string): number {
    return this.#counts.get(holder) ?? 0;
  }

  add(holder: string, change: number): void {
    const count = this.of(holder) + change;
    if (count === 0) this.#counts.delete(holder);
    else this.#counts.set(holder, count);
  }
}

function toEnd<Value>(map: Map<string, Value>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

function sizeOf(members: Members | undefined): number {
  let size = 0;
  for (const waiting of members?.values() ?? []) size += waiting.length;
  return size;
}
