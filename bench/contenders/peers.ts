/** The other gateways that can run on this machine. */
import { stripVTControlCharacters } from "node:util";
import type { Testbed } from "../parts/testbed.ts";
import type { Contender } from "./contender.ts";
import { litellm, litellmVersion } from "./litellm.ts";
import { installPortkey, portkey, portkeyVersion } from "./portkey.ts";

export interface Peers {
  contenders: Contender[];
  versions: Record<string, string>;
  /** A line for each skipped one. */
  leftOut: string[];
}

export async function findPeers({ provider, emptyDatabase }: Testbed, say: (line: string) => void): Promise<Peers> {
  await installPortkey(say);
  const found: Peers = { contenders: [portkey(provider)], versions: { Portkey: portkeyVersion() }, leftOut: [] };
  const version = litellmVersion();
  if (version === null) {
    found.leftOut.push("LiteLLM was skipped: there is no litellm command on PATH");
    return found;
  }
  const contender = litellm({ provider, databaseUrl: await emptyDatabase("litellm") });
  say(`starting LiteLLM ${version} once, so that it creates its tables`);
  const problem = await problemOf(contender);
  if (problem === null) {
    found.contenders.push(contender);
    found.versions["LiteLLM"] = version;
  } else found.leftOut.push(`LiteLLM ${version} was skipped, since it did not start: ${problem}`);
  return found;
}

async function problemOf(contender: Contender): Promise<string | null> {
  try {
    await using _running = await contender.start();
    return null;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const lines = stripVTControlCharacters(text).trim().split("\n");
    return lines.findLast((line) => /error|cannot|fail/i.test(line)) ?? text;
  }
}
