/** Raises an alarm: an error line and a count under the same name. */
import type { Logger } from "./log.ts";
import { alarmsTotal, type Alarm } from "./metrics.ts";

/** @param facts ids, names and amounts; never a prompt, a key or a provider's text */
export function raiseAlarm(log: Logger, alarm: Alarm, facts: Record<string, string | number>, message: string): void {
  alarmsTotal.inc({ alarm });
  log.error({ event: alarm, ...facts }, message);
}
