/**
 * The door for what people, browsers and strangers send: a body before a turn, a workspace before a person.
 *
 * It promises: a body that is slow, large, endless or one of hundreds takes time from its sender's workspace alone, or from its network
 * if the sender is not known yet. The operator has a lane of their own.
 *
 * 1. A body gets a place. Places are bounded in all, by workspace and by person, and with them the memory: places times the size of a
 * body. A workspace gets a further one only while more are free than it holds: the last ones are for others.
 *
 * 2. In its place it must keep up with the least rate (`BodyPace`), or it is ended with 408. When someone finds no place, the body that
 * is furthest behind is ended sooner: one of the workspace with the most bodies, or of the own workspace or person where that bound is
 * met. A body that keeps up is never ended this way.
 *
 * 3. Only a whole body waits for a turn to work in (`Turns`). It keeps its place until it was handled, so that its memory stays
 * counted.
 *
 * It does not bound connections, nor bodies that come with a key (`ByteBudget` counts those by key and workspace, and no slot is taken
 * while they arrive), nor calls of the operator token. If as many workspaces as there are places each have a body that keeps up, others
 * wait until one has arrived or its time is over.
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
  /** How far a body is behind that gives way to others; by default `bodyGivesWayMs`. */
  givesWayMs?: number;
  /** A body without a place is dropped unread: the server would hold what has arrived of it while its refusal drains it. */
  dropsRefused?: boolean;
}

interface Arriving {
  lane: Lane;
  pace: BodyPace;
}

/** Reads the body of a caller who needs no place. @throws one of `errors`, among them for a body below the least rate */
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

  /** While there is no place, ends a slow body now and then. Its place is given away in turn, like every other. */
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

  /** The body that gives way to one of the lane, chosen once only. @param bound which keeps the lane from a place */
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
