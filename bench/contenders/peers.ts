/** The other gateways that can run on this machine. */
import { stripVTControlCharacters } from "node:util";
import type { Testbed } from "../parts/testbed.ts";
import { bifrost } from "./bifrost.ts";
import { busbar, hasStorePlugin } from "./busbar.ts";
import type { Contender } from "./contender.ts";
import { litellm, litellmVersion } from "./litellm.ts";
import { nginx } from "./nginx.ts";
import { findPeerProgram, missingLine, versionOf, type PeerProgram } from "./peer-program.ts";
import { installPortkey, portkey, portkeyVersion } from "./portkey.ts";

type Say = (line: string) => void;

export interface Peers {
  contenders: Contender[];
  versions: Record<string, string>;
  /** A line for each skipped one. */
  leftOut: string[];
}

/** Those beside which every part compares Weir: Portkey, and LiteLLM with its database. */
export async function findPeers(testbed: Testbed, say: Say): Promise<Peers> {
  const found = await foundPortkey(testbed, say);
  await addLitellm({ found, testbed, say, modes: ["governed"] });
  return found;
}

/** All of them, each governed and not. */
export async function findAllPeers(testbed: Testbed, say: Say): Promise<Peers> {
  const found = await foundPortkey(testbed, say);
  const { provider } = testbed;
  await addOptional({
    found,
    say,
    peer: "nginx",
    program: "nginx",
    version: (program) => versionOf(program, ["-v"]),
    contendersOf: (program) => [nginx(program, provider)],
  });
  await addOptional({
    found,
    say,
    peer: "Busbar",
    program: "busbar",
    version: (program) => versionOf(program, ["--version"]),
    contendersOf(program) {
      const open = busbar({ program, provider, governed: false });
      if (hasStorePlugin(program)) return [open, busbar({ program, provider, governed: true })];
      found.leftOut.push("Busbar governed was skipped: no plugin of its SQLite store is in a folder plugins beside it");
      return [open];
    },
  });
  await addOptional({
    found,
    say,
    peer: "Bifrost",
    program: "bifrost-http",
    version: (program) => versionOf(program, ["-version"]),
    contendersOf: (program) => [false, true].map((governed) => bifrost({ program, provider, governed })),
  });
  await addLitellm({ found, testbed, say, modes: ["open", "governed"] });
  return found;
}

async function foundPortkey({ provider }: Testbed, say: Say): Promise<Peers> {
  await installPortkey(say);
  return { contenders: [portkey(provider)], versions: { Portkey: portkeyVersion() }, leftOut: [] };
}

interface LitellmSearch {
  found: Peers;
  testbed: Testbed;
  say: Say;
  modes: ("open" | "governed")[];
}

async function addLitellm({ found, testbed, say, modes }: LitellmSearch): Promise<void> {
  const { provider } = testbed;
  await addOptional({
    found,
    say,
    peer: "LiteLLM",
    program: "litellm",
    version: litellmVersion,
    async contendersOf(program) {
      const database = modes.includes("governed") ? await testbed.emptyDatabase("litellm") : null;
      return modes.map((mode) => litellm({ program, provider, databaseUrl: mode === "governed" ? database : null }));
    },
  });
}

interface OptionalPeer extends PeerProgram {
  found: Peers;
  say: Say;
  /** @param path the program's */
  version(path: string): string;
  contendersOf(path: string): Contender[] | Promise<Contender[]>;
}

/** Adds each mode of a peer that starts, and a line for each that does not. */
async function addOptional({ found, say, peer, program, version, contendersOf }: OptionalPeer): Promise<void> {
  const path = findPeerProgram({ peer, program });
  if (path === null) {
    found.leftOut.push(missingLine({ peer, program }));
    return;
  }
  found.versions[peer] = version(path);
  for (const contender of await contendersOf(path)) {
    say(`starting ${contender.name} once, so that it creates what it needs`);
    const problem = await problemOf(contender);
    if (problem === null) found.contenders.push(contender);
    else found.leftOut.push(`${contender.name} was skipped, since it did not start: ${problem}`);
  }
}

async function problemOf(contender: Contender): Promise<string | null> {
  try {
    await using _running = await contender.start();
    return null;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const lines = stripVTControlCharacters(text).trim().split("\n");
    return (lines.findLast((line) => /error|cannot|fail/i.test(line)) ?? text).replace(/\.$/, "");
  }
}
