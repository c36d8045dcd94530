/** The values of a setting over time. A reader may cache a value for half a minute. */
import { keyRecordAgeMsMax } from "../../src/gateway/limits.ts";

export class SettingHistory<Value> {
  readonly #values: { at: number; value: Value }[] = [];

  set(at: number, value: Value): void {
    this.#values.push({ at, value });
  }

  /** Every value that a reader may have used at `at`; none: it was never set. */
  at(at: number, delayMsMax: number): Value[] {
    const since = at - keyRecordAgeMsMax - delayMsMax;
    const last = this.#values.findLastIndex((one) => one.at <= since);
    return this.#values.slice(Math.max(0, last)).flatMap((one) => (one.at <= at ? [one.value] : []));
  }
}

/** The history of the named setting, created on first use. */
export function settingOf<Value>(settings: Map<string, SettingHistory<Value>>, name: string): SettingHistory<Value> {
  const present = settings.get(name) ?? new SettingHistory<Value>();
  settings.set(name, present);
  return present;
}
