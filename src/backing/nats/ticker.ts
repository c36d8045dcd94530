/**
 * Time on the bus, counted in turns of a timer instead of milliseconds. A process that was busy for a second has one turn for
 * it, and reads its sockets before the next: so it takes nobody for silent whose words wait to be read.
 */
import type { Clock } from "../../kernel/clock.ts";
import { busTurnMs } from "../limits.ts";

/** Calls back every turn until disposed. */
export function everyTurn(clock: Clock, callback: () => void): Disposable {
  const turn = (): void => {
    cancel = clock.after(busTurnMs, turn);
    callback();
  };
  let cancel = clock.after(busTurnMs, turn);
  return { [Symbol.dispose]: () => cancel() };
}

/** The first number of turns that are at least `ms` long. */
export function turnsOf(ms: number): number {
  return Math.ceil(ms / busTurnMs) + 1;
}
