/** The suites of `npm test`: which folders of test/ each runs, and how long it may take on two cores. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export interface Suite {
  name: string;
  /** Below test/; null takes every file that no other suite names. */
  folders: string[] | null;
  budgetSeconds: number;
  /** Has tests that skip themselves where NATS, Redis and PostgreSQL cannot be had. */
  usesServers: boolean;
}

export const suites: Suite[] = [
  { name: "embedded", folders: null, budgetSeconds: 90, usesServers: true },
  { name: "distributed", folders: ["backing", "distributed"], budgetSeconds: 120, usesServers: true },
  { name: "conformance", folders: ["wire"], budgetSeconds: 60, usesServers: true },
  { name: "simulation", folders: ["simulation"], budgetSeconds: 30, usesServers: false },
  { name: "chaos", folders: ["chaos"], budgetSeconds: 90, usesServers: true },
  { name: "tools", folders: ["security"], budgetSeconds: 90, usesServers: true },
  { name: "connectors", folders: ["connectors", "browser"], budgetSeconds: 60, usesServers: true },
];

/** Run by the checks before. */
const checkedBefore = new Set(["architecture.test.ts"]);

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
