/** The suites of `npm test`: which folders of test/ each runs, beside which others, and how long it may take on two cores. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export interface Suite {
  name: string;
  /** Below test/; null takes every file that no other suite names. */
  folders: string[] | null;
  /** Suites of one lane run one after the other, in the order of the list; the lanes run side by side. null: after all lanes. */
  lane: "computing" | "fleets" | "pages" | null;
  /** Beside the other lanes. */
  budgetSeconds: number;
  /** How often a failed test runs again. Where processes are killed, a busy machine can fail a test; elsewhere a retry hides a race. */
  retries: number;
  /** Has tests that skip themselves where NATS, Redis and PostgreSQL cannot be had. */
  usesServers: boolean;
}

export const suites: Suite[] = [
  { name: "embedded", folders: null, lane: "computing", budgetSeconds: 100, retries: 0, usesServers: true },
  { name: "tools", folders: ["security"], lane: "computing", budgetSeconds: 80, retries: 0, usesServers: true },
  { name: "simulation", folders: ["simulation"], lane: "computing", budgetSeconds: 30, retries: 0, usesServers: false },
  { name: "distributed", folders: ["distributed"], lane: "fleets", budgetSeconds: 110, retries: 1, usesServers: true },
  { name: "backing", folders: ["backing"], lane: "fleets", budgetSeconds: 100, retries: 1, usesServers: true },
  { name: "conformance", folders: ["wire"], lane: "pages", budgetSeconds: 100, retries: 0, usesServers: true },
  { name: "connectors", folders: ["connectors", "browser"], lane: "pages", budgetSeconds: 110, retries: 0, usesServers: true },
  { name: "chaos", folders: ["chaos"], lane: null, budgetSeconds: 130, retries: 1, usesServers: true },
];

/** Run by the checks before. */
const checkedBefore = new Set(["architecture.test.ts"]);

/** The lists of suites that run side by side, then the list of those that run after them. */
export function lanesOf(all: readonly Suite[]): { sideBySide: Suite[][]; after: Suite[] } {
  const lanes = Map.groupBy(all, ({ lane }) => lane);
  const after = lanes.get(null) ?? [];
  lanes.delete(null);
  return { sideBySide: [...lanes.values()], after };
}

/** The files of each suite, as `./test/…`; each test file of the tree is in exactly one, or checked before. */
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
