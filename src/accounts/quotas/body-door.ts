/**
 * Admits the bodies that people, browsers and strangers send. A body gets a place first, and a turn once it is whole. Both are shared among
 * workspaces, then among people.
 *
 * A body that is slow, large, endless or one of hundreds delays only its sender's workspace, or its network if the sender is not known yet.
 * The operator has a separate lane.
 *
 * 1. A body gets a place. Places are bounded in total, per workspace and per person. So is the memory: places times the size of a body. A
 *    workspace gets another place only while more are free than it holds: the last ones are for others.
 *
 * 2. It must then keep up with the minimum rate (`BodyPace`), or it is ended with 408. When another body finds no place, the one that is
 *    furthest behind is ended sooner: one of the workspace with the most bodies, or of the new body's own workspace or person if that bound
 *    is reached. A body that keeps up is never ended this way.
 *
 * 3. Only a whole body waits for a turn (`Turns`). It keeps its place until it has been handled, so that its memory stays counted.
 *
 * It does not bound connections, nor bodies that come with a key (`ByteBudget` counts those by key and workspace, and no slot is taken
 * while they arrive), nor calls with the operator token. If every place has a body of a different workspace that keeps up, others wait
 * until one has arrived or has timed out.
 */
import { BodyPace, bodyPieces, wholeBody, type BodyErrors } from "../../http/body.ts";
import type { Clock } from "../../kernel/clock.ts";
import { bodyGivesWayMs } from "../limits.ts";
import { type SemaphoreLimits, Turns, type Turn } from "./fair-semaphore.ts";
import { isOperatorLane, type Lane } from "./lane.ts";

interface BodyBounds {
  bytesMax: number;
  withinMs: number;
  errors: BodyErrors;
}

/** A whole body; its place is free again when it is disposed of. */
export interface ReceivedBody extends Disposable {
  bytes: Uint8Array;
}

interface DoorOptions {
  clock: Clock;
  /** The bounds of places. */
  limits: SemaphoreLimits;
  /** The message of a refusal. */
  busy: string;
  /** How far behind a body may be before it gives way to others; by default `bodyGivesWayMs`. */
  givesWayMs?: number;
  /** A body without a place is dropped unread; otherwise the server would buffer what has arrived while it drains the rest. */
  dropsRefused?: boolean;
}

interface Arriving {
  lane: Lane;
  pace: BodyPace;
}

/** Reads the body of a caller who needs no place. @throws one of `errors`, also for a body below the minimum rate */
export async function receiveBody(
  request: Request,
  bounds: BodyBounds & { clock: Clock; pace?: BodyPace },
): Promise<ReceivedBody> {
  return { bytes: await wholeBody(bodyPieces(request, bounds)), [Symbol.dispose]() {} };
}

export class BodyDoor {
  readonly #clock: Clock;
  readonly #givesWayMs: number;
  readonly #dropsRefused: boolean;
  readonly #places: Turns;
  readonly #arriving = new Set<Arriving>();

  constructor(options: DoorOptions) {
    this.#clock = options.clock;
    this.#givesWayMs = options.givesWayMs ?? bodyGivesWayMs;
    this.#dropsRefused = options.dropsRefused ?? false;
    this.#places = new Turns({ ...options, limits: { ...options.limits, leavesRoom: true } });
  }

  /** Reads a body. @throws LimitReachedError if it got no place; one of `errors` */
  async receive(request: Request, lane: Lane, bounds: BodyBounds): Promise<ReceivedBody> {
    const place = await this.#place(lane).catch((error: unknown) => {
      if (this.#dropsRefused) request.body?.cancel().catch(() => {});
      throw error;
    });
    const arriving = { lane, pace: new BodyPace(this.#clock) };
    this.#arriving.add(arriving);
    try {
      const { bytes } = await receiveBody(request, { ...bounds, clock: this.#clock, pace: arriving.pace });
      return { bytes, [Symbol.dispose]: () => place[Symbol.dispose]() };
    } catch (error) {
      place[Symbol.dispose]();
      throw error;
    } finally {
      this.#arriving.delete(arriving);
    }
  }

  /** While no place is free, ends a slow body now and then. Its place goes to the next in turn, like any other. */
  async #place(lane: Lane): Promise<Turn> {
    let isWaiting = true;
    let cancel = (): void => {};
    const look = (): void => {
      const bound = this.#places.blockedBy(lane);
      if (!isWaiting || bound === null) return;
      this.#slowest(lane, bound)?.pace.end();
      cancel = this.#clock.after(this.#givesWayMs, look);
    };
    look();
    try {
      return await this.#places.take(lane);
    } finally {
      isWaiting = false;
      cancel();
    }
  }

  /** The body that gives way to one of the lane; each is chosen only once. @param bound what keeps the lane from a place */
  #slowest({ group, member }: Lane, bound: "member" | "group" | "all"): Arriving | null {
    const bodies = [...this.#arriving].filter(({ lane }) => {
      if (bound === "all") return !isOperatorLane(lane);
      return bound === "group" ? lane.group === group : lane.member === member;
    });
    const counts = Map.groupBy(bodies, ({ lane }) => lane.group);
    const most = Math.max(...Array.from(counts.values(), ({ length }) => length));
    const [first] = bodies
      .filter(({ lane, pace }) => counts.get(lane.group)?.length === most && pace.behindMs >= this.#givesWayMs)
      .toSorted((a, b) => b.pace.behindMs - a.pace.behindMs);
    if (first === undefined) return null;
    this.#arriving.delete(first);
    return first;
  }
}
