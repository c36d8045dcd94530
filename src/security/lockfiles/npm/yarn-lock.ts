/** yarn.lock: its own format in version 1, YAML since version 2. */
import type { LockGraph } from "../lock-graph.ts";
import { readYarnBerryLock } from "./yarn-berry.ts";
import { readYarnClassicLock } from "./yarn-classic.ts";

/** @throws LockFileError */
export function readYarnLock(text: string): LockGraph {
  return /^__metadata:/m.test(text) ? readYarnBerryLock(text) : readYarnClassicLock(text);
}
