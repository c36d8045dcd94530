/** The suites of `npm test`: which folders of test/ each runs, at the same time as which others, and how long it may take. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export interface Suite {
  name: string;
  /** Below test/; null takes every file that no other suite names. A folder that another suite names is not part of its parent's suite. */
  folders: string[] | null;
  /** Its tests fail if they wait for the CPU, so it gets the CPU before other suites, and at most two other timed suites run with it. */
  isTimed: boolean;
  /** Measured on two cores, while other suites run. */
  budgetSeconds: number;
  /** How often a failed test runs again. A busy machine can fail tests that kill processes; elsewhere a retry would hide a race. */
  retries: number;
  /** Has tests that skip themselves if NATS, Redis and PostgreSQL are not available. */
  usesServers: boolean;
}

/** How many suites run at the same time. Each waits now and then, and with fewer a core has nothing to do meanwhile. */
export const lanesMax = 5;
/** How many of those may be timed: each waits for more than half of its time. */
export const timedMax = 3;

const ordinary = { isTimed: false, retries: 0, usesServers: true };
const timed = { ...ordinary, isTimed: true, retries: 1 };

/**
 * In the order in which they start: timed ones first, since few of them run at the same time, then the longest. The short ones are last, so
 * that no core waits for a long one at the end.
 */
export const suites: Suite[] = [
  { ...timed, name: "recovery", folders: ["recovery"], budgetSeconds: 190 },
  { ...timed, name: "distributed", folders: ["distributed"], budgetSeconds: 190 },
  { ...timed, name: "backing", folders: ["backing"], budgetSeconds: 130 },
  { ...timed, name: "nats", folders: ["backing/nats"], budgetSeconds: 90 },
  { ...timed, name: "chaos", folders: ["chaos"], budgetSeconds: 70 },
  { ...timed, name: "bench", folders: ["bench"], budgetSeconds: 20 },
  { ...ordinary, name: "browser", folders: ["browser"], budgetSeconds: 160, usesServers: false },
  { ...ordinary, name: "tools", folders: ["security"], budgetSeconds: 160 },
  { ...ordinary, name: "embedded", folders: null, budgetSeconds: 190 },
  { ...ordinary, name: "conformance", folders: ["wire"], budgetSeconds: 130 },
  { ...ordinary, name: "api", folders: ["gateway/api", "gateway/own-keys"], budgetSeconds: 110 },
  { ...ordinary, name: "gateway", folders: ["gateway"], budgetSeconds: 90 },
  { ...ordinary, name: "console", folders: ["console"], budgetSeconds: 40 },
  { ...ordinary, name: "simulation", folders: ["simulation"], budgetSeconds: 30, usesServers: false },
  { ...ordinary, name: "connectors", folders: ["connectors"], budgetSeconds: 30 },
];

/** The suite that a free lane takes next; null: none may start while the others run. */
export function nextSuite(waiting: readonly Suite[], running: Iterable<Suite>): Suite | null {
  const timedRuns = [...running].filter(({ isTimed }) => isTimed).length;
  return waiting.find(({ isTimed }) => !isTimed || timedRuns < timedMax) ?? null;
}

/** Runs all suites, as many at the same time as there are lanes. Rejects when `run` rejects. */
export async function runInLanes(all: readonly Suite[], lanes: number, run: (suite: Suite) => Promise<void>): Promise<void> {
  const waiting = [...all];
  const running = new Map<Suite, Promise<Suite>>();
  for (;;) {
    const next = running.size < lanes ? nextSuite(waiting, running.keys()) : null;
    if (next !== null) {
      waiting.splice(waiting.indexOf(next), 1);
      running.set(
        next,
        run(next).then(() => next),
      );
    } else if (running.size === 0) return;
    else running.delete(await Promise.race(running.values()));
  }
}

/** The checks run these. */
const checked = new Set(["architecture.test.ts"]);

/** The files of each suite, as `./test/…`. Each test file is in exactly one suite, or in the checks. */
export function filesOf(suite: Suite, testFolder: string): string[] {
  const files = readdirSync(testFolder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"));
  return files
    .filter((path) => !checked.has(path) && suiteOf(path) === suite)
    .toSorted()
    .map((path) => `./${join("test", path)}`);
}

/** The suite that names the file's innermost folder. */
function suiteOf(path: string): Suite | undefined {
  const named = suites.flatMap((suite) => (suite.folders ?? [""]).map((folder) => ({ suite, folder })));
  const around = named.filter(({ folder }) => folder === "" || path.startsWith(`${folder}/`));
  return around.toSorted((one, other) => other.folder.length - one.folder.length)[0]?.suite;
}
