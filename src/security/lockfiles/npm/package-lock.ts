/**
 * package-lock.json and npm-shrinkwrap.json, versions 1 to 3.
 * Source: https://docs.npmjs.com/cli/configuring-npm/package-lock-json
 */
import { fieldOf, objectOf } from "../../sboms/json/value.ts";
import { LockFileError } from "../lock-file-error.ts";
import { LockGraphBuilder, type LockGraph } from "../lock-graph.ts";
import { parseLockJson } from "../parse/json.ts";
import { addV1Packages } from "./package-lock-v1.ts";
import { addV2Packages } from "./package-lock-v2.ts";

/** @throws LockFileError */
export function readPackageLock(text: string): LockGraph {
  const lock = parseLockJson(text);
  const version = fieldOf(lock, "lockfileVersion");
  const graph = new LockGraphBuilder();
  if (version !== undefined && version !== 1 && version !== 2 && version !== 3) {
    throw new LockFileError(`lockfileVersion: is ${JSON.stringify(version).slice(0, 60)}; 1, 2 and 3 are read`);
  }
  const packages = objectOf(lock, "packages");
  // Version 2 contains everything twice, for old and new npm; the newer form contains more.
  if (packages !== null) addV2Packages(packages, graph);
  else if (version === 3) throw new LockFileError("packages: is missing");
  else addV1Packages(objectOf(lock, "dependencies") ?? {}, graph);
  return graph.finish();
}
