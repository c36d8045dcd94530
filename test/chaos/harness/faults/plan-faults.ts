/** Plans the order of the faults from the seed. Every kind comes once before any kind comes again. */
import { randomFrom, shuffled } from "../../../support/random.ts";
import { serverNames } from "../world/links.ts";
import { hasLink, partNames, type Fault, type FleetSize } from "./fault.ts";

export interface FaultPlan {
  seed: number;
  /** The longest duration of a fault; at least 1,000. */
  longestMs: number;
  /** The kinds that this machine cannot inject. */
  without: readonly Fault["kind"][];
  fleet: FleetSize;
  /** The servers of each engine, where they are clusters that are reached directly; null: single servers behind proxies. */
  clusters: ClusterTargets | null;
}

export interface ClusterTargets {
  redis: readonly string[];
  nats: readonly string[];
  /** Those of them that can be cut off from the others. */
  isolated: readonly string[];
  postgres: readonly string[];
}

type Random = () => number;
interface Chance {
  random: Random;
  longestMs: number;
}
type FaultMaker = (chance: Chance) => Fault;

/** Yields one fault, or two at once, without end. */
export function* planFaults({ seed, longestMs, without, fleet, clusters }: FaultPlan): Generator<Fault[]> {
  const random = randomFrom(seed ^ 0x5eed);
  const chance = { random, longestMs };
  for (;;) {
    const makers = clusters === null ? singleFaults(fleet) : clusterFaults(fleet, clusters);
    const pending = shuffled(makers, random).filter((makeFault) => !without.includes(makeFault(chance).kind));
    while (pending.length > 0) {
      const together = random() < 0.15 ? 2 : 1;
      const faults = pending.splice(0, together).map((makeFault) => makeFault(chance));
      if (clusters === null || areApart(faults, clusters)) yield faults;
      else for (const fault of faults) yield [fault];
    }
  }
}

function singleFaults(fleet: FleetSize): FaultMaker[] {
  const servers: FaultMaker[] = serverNames.flatMap((who) => killAndFreeze(who));
  return [...servers, ...partFaults(fleet), ...networks(partNames(fleet)), ...otherFaults, ...otherFaults];
}

function clusterFaults(fleet: FleetSize, { redis, nats, isolated, postgres }: ClusterTargets): FaultMaker[] {
  const outlasting = (chance: Chance): number => between(chance.random, 1_000, chance.longestMs);
  const silences = [...redis, ...nats, ...postgres].map((who): FaultMaker => (chance) => ({
    kind: "freeze",
    who,
    ms: outlasting(chance),
  }));
  const partitions = isolated.map((who): FaultMaker => (chance) => ({ kind: "isolate", who, ms: outlasting(chance) }));
  const promotions = redis.map((who): FaultMaker => () => ({ kind: "failover", who }));
  const deaths = [...redis, ...nats, ...postgres].map((who): FaultMaker => () => ({ kind: "kill", who }));
  const unplugs = partNames(fleet).map((who): FaultMaker => (chance) => ({ kind: "unplug", who, ms: outlasting(chance) }));
  const servers = [...deaths, ...silences, ...partitions, ...promotions];
  return [...servers, ...unplugs, ...partFaults(fleet), ...otherFaults, ...otherFaults];
}

/** A cluster outlives the loss of one of its servers at a time. */
function areApart(faults: readonly Fault[], clusters: ClusterTargets): boolean {
  const hit = faults.flatMap((fault) =>
    Object.values(clusters).filter((servers) => "who" in fault && servers.includes(fault.who ?? "")),
  );
  return new Set(hit).size === hit.length;
}

function killAndFreeze(who: string): FaultMaker[] {
  return [() => ({ kind: "kill", who }), (chance) => ({ kind: "freeze", who, ms: lasting(chance) })];
}

function partFaults(fleet: FleetSize): FaultMaker[] {
  return partNames(fleet).flatMap((who) => [...killAndFreeze(who), () => ({ kind: "stop", who }) as const]);
}

const otherFaults: FaultMaker[] = [
  () => ({ kind: "empty-redis" }),
  () => ({ kind: "end-sessions" }),
  (chance) => ({ kind: "full-disk", ms: lasting(chance) }),
];

function networks(parts: readonly string[]): FaultMaker[] {
  return serverNames.flatMap((server): FaultMaker[] => {
    const everyProcess = (): null => null;
    const oneProcess = ({ random }: { random: Random }): string => chosen(parts, random, (part) => hasLink(part, server));
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
