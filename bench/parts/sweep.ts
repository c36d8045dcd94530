/** Alternates contenders under the same loads in short slices, so that the figures of a ratio come from the same seconds. */
import { instantModel } from "../contenders/provider.ts";
import { measure, progressLine, type MeasurePlan, type Measurement } from "../measure/measure.ts";
import type { RunningInstallation, Side } from "./side-by-side.ts";

/** Disturbances of the machine last for seconds, so that more slices are better than longer ones. */
export const sliceSeconds = 0.8;
/** An odd number, so that the median of three ignores a disturbed sweep. */
export const sweepsPerRound = 3;
/**
 * Longer than the lag of the ledger (0.1 to 0.6 s). Weir then settles as much earlier work within the measured time as it defers
 * beyond it, so that each slice includes the full work.
 */
const sliceWarmUpSeconds = 0.8;

export type Load = Pick<MeasurePlan, "load" | "words" | "sweep">;

interface Sweep {
  started: RunningInstallation[];
  /** The number of the sweep, counted over all rounds. */
  sweep: number;
  seconds: number;
  loads: readonly Load[];
  take(installation: RunningInstallation, side: Side, load: Load): Promise<void>;
}

/** Measures all contenders directly after each other under each load. */
export async function takeSweep({ started, sweep, seconds, loads, take }: Sweep): Promise<void> {
  const pairs = started.flatMap((installation) => installation.sides.map((side) => ({ installation, side })));
  // Every second sweep has the reverse order, so that no contender always follows the same one.
  const order = sweep % 2 === 1 ? pairs : pairs.toReversed();
  const time = ["--warm-up", String(sliceWarmUpSeconds), "--seconds", String(seconds)];
  for (const { load, words } of loads) {
    for (const { installation, side } of order) await take(installation, side, { load, words: [...time, ...words], sweep });
  }
}

export interface LoadPlace extends Pick<MeasurePlan, "provider" | "round"> {
  rounds: number;
  say(line: string): void;
}

/** Waits for the work that the load leaves, before the next contender is measured. */
export async function takeLoad({ subject, running, generator }: Side, load: Load, place: LoadPlace): Promise<Measurement> {
  const { provider, round, rounds, say } = place;
  const words = ["--model", subject.model(instantModel), ...load.words];
  const at = { contender: subject.name, running, provider, round };
  const measured = await measure({ ...at, ...load, words, generator, untilSettled: true });
  const sweep = load.sweep === undefined ? "" : `, sweep ${load.sweep}/${rounds * sweepsPerRound}`;
  say(`round ${round}/${rounds}${sweep} ${progressLine(measured)}`);
  return measured;
}
