/** The words of load.lua and merge-windows.lua. */
import type { WorkspaceLoad } from "../../counters.ts";
import { rateWindowMs } from "../../../limits/constants.ts";
import { holdRecord } from "./hold-record.ts";

/** What one call of merge-windows.lua takes: some 20 ms in which Redis does nothing else. */
const timesPerCallMax = 20_000;

/** The values of load.lua. A generation that is told twice is one hold. */
export function loadValues({ begun, account, holds }: WorkspaceLoad, run: string): string[] {
  const { balance, sequence, months } = account;
  const values = [run, String(balance), String(sequence), begun ?? "", String(months.length)];
  for (const { month, spent } of months) values.push(month, String(spent));
  const records = new Map(holds.toReversed().map((hold) => [hold.generation, holdRecord(hold)]));
  values.push(String(records.size));
  for (const [generation, record] of records) values.push(generation, record);
  return values;
}

/** The values of merge-windows.lua, for as many calls as the times need. */
export function windowValues(windows: WorkspaceLoad["windows"], run: string): string[][] {
  const calls: string[][] = [];
  let room = 0;
  for (const { key, times } of windows) {
    if (times.length === 0) continue;
    if (times.length > room) {
      calls.push([run, String(rateWindowMs)]);
      room = timesPerCallMax;
    }
    calls.at(-1)?.push(key, distances(times));
    room -= times.length;
  }
  return calls;
}

/** Ascending, each as its distance to the one before: a tenth of the bytes. */
function distances(times: readonly number[]): string {
  let before = 0;
  return times
    .toSorted((a, b) => a - b)
    .map((time) => {
      const distance = time - before;
      before = time;
      return distance;
    })
    .join(",");
}
