import { rateWindowMs } from "../../../src/backing/limits.ts";
import { Notes, type Finding } from "../evidence.ts";
import type { Admitted, History } from "../history.ts";
import { settingOf, type SettingHistory } from "../setting-history.ts";

/**
 * I-5: no N + 1 admissions of a key lie within a minute by the counters' clock, where N is its limit. The same holds for the calls at
 * providers, in true time, except for the time in transit. When the counters' clock is set forward, that time counts as passed. When it is
 * set back, a key's next requests count for its newest time, although the clock had been further on; counters that are lost after that are
 * loaded with what gateways admitted within a minute by their own clocks.
 * A gateway that was paused may call that much later. Once a gateway's disk and then the counters are lost, its admissions are unknown
 * (docs/internals/reliability.md).
 */
export function rateWindow(history: History, delayMsMax: number): Finding {
  const notes = new Notes();
  const rates = new Map<string, SettingHistory<number>>();
  const steps: { at: number; ms: number }[] = [];
  const stillness: { at: number; ms: number }[] = [];
  const losses: number[] = [];
  const disks: number[] = [];
  const admitted = new Map<string, Admitted>();
  const byStore = new Map<string, Sent[]>();
  const byProvider = new Map<string, Sent[]>();
  for (const event of history) {
    if (event.kind === "rate") settingOf(rates, event.key).set(event.at, event.requestsPerMinute);
    if (event.kind === "stepped") steps.push(event);
    if (event.kind === "fault" && /counters are emptied|without the last writes/.test(event.name)) losses.push(event.at);
    if (event.kind === "fault" && event.name === "a gateway is lost with its disk") disks.push(event.at);
    if (event.kind === "healed" && event.stoodStillMs) stillness.push({ at: event.at, ms: event.stoodStillMs });
    if (event.kind === "admitted") admitted.set(event.generation, event);
    if (event.kind !== "called") continue;
    const own = admitted.get(event.generation);
    if (!own) continue;
    admitted.delete(event.generation);
    const { key, admittedAt, generation } = own;
    const allowed = Math.max(...(rates.get(key)?.at(event.at, delayMsMax) ?? []));
    listOf(byStore, key).push({ time: admittedAt, at: event.at, allowed, generation });
    listOf(byProvider, key).push({ time: event.at, at: event.at, allowed, generation });
  }
  const window = (from: number): number => rateWindowMs - steppedWithin(steps, from, delayMsMax);
  const setBack = (before: Sent, last: Sent): number => {
    const between = steps.filter(({ at, ms }) => ms < 0 && at > before.at && at <= last.at);
    return Math.max(
      0,
      ...between.map(({ at }) => (losses.some((loss) => loss > at && loss <= last.at) ? last.at : at) - before.at),
    );
  };
  const isForgotten = (before: Sent, last: Sent): boolean =>
    disks.some((disk) => before.at <= disk && losses.some((loss) => loss >= disk && loss <= last.at));
  for (const [key, sent] of byStore)
    checkWindow(sent, { window, setBack, isForgotten }, notes, `key ${key}, by the counters' clock`);
  const trueWindow = (from: number): number => window(from) - delayMsMax - stoodStillBefore(stillness, from, delayMsMax);
  const inTruth = { window: trueWindow, setBack: () => 0, isForgotten };
  for (const [key, sent] of byProvider) checkWindow(sent, inTruth, notes, `key ${key}, as providers saw it`);
  return notes;
}

interface Sent {
  time: number;
  /** When the provider was called. */
  at: number;
  allowed: number;
  generation: string;
}

interface Window {
  /** Its width for a call at this time. */
  window(from: number): number;
  /** How far the clock had come between two calls before it was set back. */
  setBack(before: Sent, last: Sent): number;
  /** Whether no process can know the first of two calls any more. */
  isForgotten(before: Sent, last: Sent): boolean;
}

function checkWindow(sent: Sent[], { window, setBack, isForgotten }: Window, notes: Notes, what: string): void {
  const ordered = sent.toSorted((a, b) => a.time - b.time);
  for (const [index, last] of ordered.entries()) {
    const before = ordered[index - last.allowed];
    if (!before || last.allowed === -Infinity || isForgotten(before, last)) continue;
    const apartMs = Math.max(last.time - before.time, setBack(before, last));
    notes.check(apartMs >= window(before.at), () => {
      return `${what}: ${last.allowed + 1} within ${apartMs} ms, up to ${last.generation}, but ${last.allowed} are allowed`;
    });
  }
}

function steppedWithin(steps: { at: number; ms: number }[], from: number, delayMsMax: number): number {
  const within = steps.filter(({ at, ms }) => ms > 0 && at >= from - delayMsMax && at <= from + rateWindowMs);
  return within.reduce((sum, { ms }) => sum + ms, 0);
}

/** How late the call at `from` may have been for a gateway that stood still. */
function stoodStillBefore(stillness: { at: number; ms: number }[], from: number, delayMsMax: number): number {
  const near = stillness.filter(({ at, ms }) => from >= at - delayMsMax && from <= at + delayMsMax + ms);
  return Math.max(0, ...near.map(({ ms }) => ms));
}

function listOf(lists: Map<string, Sent[]>, name: string): Sent[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}
