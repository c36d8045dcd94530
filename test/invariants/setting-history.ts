/** What a setting was, and what somebody who may know it for half a minute may still take it for. */
import { keyRecordAgeMsMax } from "../../src/gateway/limits.ts";

export class SettingHistory<Value> {
  readonly #values: { at: number; value: Value }[] = [];

  set(at: number, value: Value): void {
    this.#values.push({ at, value });
  }

  /** Every value that may have decided something at `at`; none: it was never set. */
  at(at: number, delayMsMax: number): Value[] {
    const since = at - keyRecordAgeMsMax - delayMsMax;
    const last = this.#values.findLastIndex((one) => one.at <= since);
    return this.#values.slice(Math.max(0, last)).flatMap((one) => (one.at <= at ? [one.value] : []));
  }
}

/** The one for a name, made where there is none. */
export function settingOf<Value>(settings: Map<string, SettingHistory<Value>>, name: string): SettingHistory<Value> {
  const present = settings.get(name) ?? new SettingHistory<Value>();
  settings.set(name, present);
  return present;
}
