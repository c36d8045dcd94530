/**
 * Time on the bus, counted in ticks of a timer instead of milliseconds. A process that was busy for a second has one tick for
 * it and reads its sockets before the next tick: so it never treats a peer as silent whose messages wait in the socket.
 */
import type { Clock } from "../../kernel/clock.ts";
import { busTickMs } from "../limits.ts";

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
