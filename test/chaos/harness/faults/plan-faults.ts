/** Plans the order of the faults from the seed. Every kind comes once before any kind comes again. */
import { randomFrom, shuffled } from "../../../support/random.ts";
import { serverNames } from "../world/links.ts";
import { hasLink, partNames, type Fault } from "./fault.ts";

export interface FaultPlan {
  seed: number;
  /** The longest duration of a fault; at least 1,000. */
  longestMs: number;
  /** The kinds that this machine cannot inject. */
  without: readonly Fault["kind"][];
}

type Random = () => number;
type FaultMaker = (chance: { random: Random; longestMs: number }) => Fault;

/** Yields one fault, or two at once, without end. */
export function* planFaults({ seed, longestMs, without }: FaultPlan): Generator<Fault[]> {
  const random = randomFrom(seed ^ 0x5eed);
  const chance = { random, longestMs };
  for (;;) {
    const pending = shuffled(faultMakers(), random).filter((makeFault) => !without.includes(makeFault(chance).kind));
    while (pending.length > 0) {
      const together = random() < 0.15 ? 2 : 1;
      yield pending.splice(0, together).map((makeFault) => makeFault(chance));
    }
  }
}

function faultMakers(): FaultMaker[] {
  const servers: FaultMaker[] = serverNames.flatMap((who) => [
    () => ({ kind: "kill", who }),
    (chance) => ({ kind: "freeze", who, ms: lasting(chance) }),
  ]);
  const parts: FaultMaker[] = partNames.flatMap((who) => [
    () => ({ kind: "kill", who }),
    (chance) => ({ kind: "freeze", who, ms: lasting(chance) }),
    () => ({ kind: "stop", who }),
  ]);
  const others: FaultMaker[] = [
    () => ({ kind: "empty-redis" }),
    () => ({ kind: "end-sessions" }),
    (chance) => ({ kind: "full-disk", ms: lasting(chance) }),
  ];
  return [...servers, ...parts, ...networks(), ...others, ...others];
}

function networks(): FaultMaker[] {
  return serverNames.flatMap((server): FaultMaker[] => {
    const everyProcess = (): null => null;
    const oneProcess = ({ random }: { random: Random }): string => chosen(partNames, random, (part) => hasLink(part, server));
    return [everyProcess, oneProcess].flatMap((who): FaultMaker[] => [
      (chance) => ({ kind: "cut", who: who(chance), server, ms: lasting(chance) }),
      (chance) => ({ kind: "silence", who: who(chance), server, ms: lasting(chance) }),
      (chance) => ({ kind: "delay", who: who(chance), server, ms: lasting(chance), delayMs: between(chance.random, 50, 5_000) }),
      (chance) => ({ kind: "half-open", who: who(chance), server }),
      (chance) => ({ kind: "truncate", who: who(chance), server, bytes: between(chance.random, 1, 3_000), ms: 1_000 }),
    ]);
  });
}

/** Mostly seconds, sometimes up to the longest duration. */
function lasting({ random, longestMs }: { random: Random; longestMs: number }): number {
  return Math.round(1_000 + (longestMs - 1_000) * random() ** 3);
}

function between(random: Random, least: number, most: number): number {
  return Math.round(least * (most / least) ** random());
}

function chosen<T>(from: readonly T[], random: Random, fits: (one: T) => boolean): T {
  const fitting = from.filter(fits);
  const one = fitting[Math.floor(random() * fitting.length)];
  if (one === undefined) throw new Error("There is nothing to choose from");
  return one;
}
