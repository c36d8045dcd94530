/** The suites of `npm test`: which folders of test/ each runs, beside which others, and how long it may take. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export interface Suite {
  name: string;
  /** Below test/; null takes every file that no other suite names. */
  folders: string[] | null;
  /** The suites of the second stage kill processes, so they start when all of the first stage have ended. */
  stage: 1 | 2;
  /** The lanes of a stage run side by side; the suites of a lane run one after another, in the order of the list. */
  lane: number;
  /** On two cores, beside the other lanes. */
  budgetSeconds: number;
  /** How often a failed test runs again. Where processes are killed, a busy machine can fail a test; elsewhere a retry hides a race. */
  retries: number;
  /** Has tests that skip themselves where NATS, Redis and PostgreSQL cannot be had. */
  usesServers: boolean;
}

export const suites: Suite[] = [
  { name: "embedded", folders: null, stage: 1, lane: 1, budgetSeconds: 160, retries: 0, usesServers: true },
  { name: "conformance", folders: ["wire"], stage: 1, lane: 1, budgetSeconds: 90, retries: 0, usesServers: true },
  { name: "distributed", folders: ["distributed"], stage: 1, lane: 2, budgetSeconds: 130, retries: 1, usesServers: true },
  { name: "tools", folders: ["security"], stage: 1, lane: 2, budgetSeconds: 120, retries: 0, usesServers: true },
  { name: "backing", folders: ["backing"], stage: 1, lane: 3, budgetSeconds: 130, retries: 1, usesServers: true },
  {
    name: "connectors",
    folders: ["connectors", "browser"],
    stage: 1,
    lane: 3,
    budgetSeconds: 100,
    retries: 0,
    usesServers: true,
  },
  { name: "simulation", folders: ["simulation"], stage: 1, lane: 3, budgetSeconds: 20, retries: 0, usesServers: false },
  { name: "chaos", folders: ["chaos"], stage: 2, lane: 1, budgetSeconds: 90, retries: 1, usesServers: true },
  { name: "recovery", folders: ["recovery"], stage: 2, lane: 2, budgetSeconds: 90, retries: 1, usesServers: true },
];

/** The checks run these before. */
const checkedBefore = new Set(["architecture.test.ts"]);

/** The stages in order, each as its lanes. */
export function stagesOf(all: readonly Suite[]): Suite[][][] {
  const stages = [...Map.groupBy(all, ({ stage }) => stage).values()];
  return stages.map((stage) => [...Map.groupBy(stage, ({ lane }) => lane).values()]);
}

/** The files of each suite, as `./test/…`. Each test file is in exactly one suite, or in the checks. */
export function filesOf(suite: Suite, testFolder: string): string[] {
  const named = new Set(suites.flatMap((other) => other.folders ?? []));
  const files = readdirSync(testFolder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"));
  const belongs = (path: string) => {
    const folder = path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
    return suite.folders === null ? !named.has(folder) && !checkedBefore.has(path) : suite.folders.includes(folder);
  };
  return files
    .filter(belongs)
    .toSorted()
    .map((path) => `./${join("test", path)}`);
}
