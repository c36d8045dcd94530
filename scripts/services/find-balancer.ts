/** Looks for HAProxy, which comes from Debian's package as the servers do. */
import { spawnSync } from "node:child_process";
import { findHere } from "./find-servers.ts";
import { environmentOf, type Program } from "./program.ts";

/** null: it cannot be had here. */
export function findBalancer(): Promise<Program | null> {
  return findHere("haproxy", (program) => spawnSync(program.path, ["-v"], { env: environmentOf(program) }).status === 0);
}
