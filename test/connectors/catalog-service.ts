/** One process with the whole catalog, for the files of this folder that change nothing in it. It stops when the test process ends. */
import { atEnd } from "../support/processes/at-end.ts";
import { wholeCatalog } from "../support/providers/catalogs.ts";
import { Fleet } from "../support/servers/fleet.ts";

let started: Promise<Fleet> | null = null;

export function catalogService(): Promise<Fleet> {
  return (started ??= start());
}

async function start(): Promise<Fleet> {
  const fleet = await Fleet.start({ services: null, catalogDir: wholeCatalog });
  atEnd(() => fleet[Symbol.asyncDispose]());
  return fleet;
}
