/**
 * Who is alive, by heartbeats: one every 100 ms, and a goodbye at the end. A process that hangs sends none, so nothing else has to detect
 * that. Silence is counted in ticks of this process's timer instead of milliseconds. A process that was busy for a second counts one tick
 * and reads its sockets before the next one, so it never treats a peer as silent whose messages wait in the socket.
 */
import type { Clock } from "../../kernel/clock.ts";
import { workerHeartbeatMs, busSilenceMsMax, busTickMs } from "../limits.ts";
import type { NatsLink } from "./link.ts";

/** The live members of a group, by their heartbeats. A member that was silent for too many ticks, or said goodbye, is not one. */
export class Membership {
  readonly #silentTicks = new Map<string, number>();
  readonly #silentTicksMax: number;

  constructor(silentTicksMax: number) {
    this.#silentTicksMax = silentTicksMax;
  }

  get ids(): string[] {
    return [...this.#silentTicks.keys()];
  }

  /** How long a member has been silent; Infinity for an id that is not a member. */
  silentTicks(id: string): number {
    return this.#silentTicks.get(id) ?? Number.POSITIVE_INFINITY;
  }

  heard(id: string): void {
    this.#silentTicks.set(id, 0);
  }

  left(id: string): void {
    this.#silentTicks.delete(id);
  }

  tick(): void {
    for (const [id, ticks] of this.#silentTicks) {
      if (ticks + 1 > this.#silentTicksMax) this.#silentTicks.delete(id);
      else this.#silentTicks.set(id, ticks + 1);
    }
  }

  clear(): void {
    this.#silentTicks.clear();
  }
}

// Heartbeats

const goodbye = "-";

interface HeartbeatParts {
  link: NatsLink;
  clock: Clock;
  subject: string;
  /** The sender's id. */
  id: string;
  /** Dead members in whose place it is; absent: none. */
  predecessors?: readonly string[];
  /** Called with the first heartbeat after a silence, in which others may have left it out. */
  onMissed?: () => void;
}

/** Sends heartbeats until disposed. Those just before the link went down may be lost, so every such time counts as a silence. */
export function startHeartbeat({ link, clock, subject, id, predecessors = [], onMissed }: HeartbeatParts): Disposable {
  const text = [id, ...predecessors].join(" ");
  let cancel = (): void => {};
  let sentAt = clock.monotonic();
  const beat = (): void => {
    cancel();
    cancel = clock.after(workerHeartbeatMs, beat);
    if (!link.up) return;
    link.publish(subject, text);
    const silentMs = clock.monotonic() - sentAt;
    sentAt = clock.monotonic();
    if (silentMs > busSilenceMsMax) onMissed?.();
  };
  const watching = link.watch({ up: beat, down: () => void (sentAt = -Infinity) });
  beat();
  return {
    [Symbol.dispose]: () => {
      cancel();
      watching[Symbol.dispose]();
      link.publish(subject, goodbye + id);
    },
  };
}

export function readHeartbeat(payload: Uint8Array): { id: string; leaves: boolean; predecessors: string[] } {
  const [text = "", ...predecessors] = new TextDecoder().decode(payload).split(" ");
  const leaves = text.startsWith(goodbye);
  return { id: leaves ? text.slice(goodbye.length) : text, leaves, predecessors };
}

// Ticks

/** Calls back every tick until disposed. */
export function everyTick(clock: Clock, callback: () => void): Disposable {
  const tick = (): void => {
    cancel = clock.after(busTickMs, tick);
    callback();
  };
  let cancel = clock.after(busTickMs, tick);
  return { [Symbol.dispose]: () => cancel() };
}

/** The smallest number of ticks that last at least `ms`. */
export function ticksOf(ms: number): number {
  return Math.ceil(ms / busTickMs) + 1;
}
