/** Finds the program of another gateway that this machine may have. bench/peers/README.md says how to get each. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { peersFolder } from "../paths.ts";

export interface PeerProgram {
  /** Its name in reports. */
  peer: string;
  program: string;
}

/** The places where a program is looked for, in this order: as the variable says, in bench/.peers, on PATH. */
export function placesOf({ peer, program }: PeerProgram, env: Record<string, string | undefined> = process.env): string[] {
  const named = env[variableOf(peer)];
  if (named !== undefined) return [named];
  const onPath = Bun.which(program, { PATH: env["PATH"] ?? "" });
  return [join(peersFolder, peer.toLowerCase(), program), ...(onPath === null ? [] : [onPath])];
}

/** The environment variable that names a peer's program. */
export function variableOf(peer: string): string {
  return `BENCH_${peer.toUpperCase()}`;
}

/** @returns null when it is nowhere */
export function findPeerProgram(wanted: PeerProgram): string | null {
  return placesOf(wanted).find((place) => existsSync(place)) ?? null;
}

/** What a report says of a peer without a program. */
export function missingLine({ peer, program }: PeerProgram): string {
  return `${peer} was skipped: no ${program} is on PATH or in .peers/${peer.toLowerCase()}, and ${variableOf(peer)} names none`;
}

/** LiteLLM imports for seconds. */
const versionMsMax = 60_000;

/** The version that a program prints. @param words the arguments that ask for it */
export function versionOf(program: string, words: string[], env: Record<string, string> = {}): string {
  const options = { encoding: "utf8", timeout: versionMsMax, env: { ...process.env, ...env } } as const;
  const { stdout, stderr } = spawnSync(program, words, options);
  return /\d+\.\d+\.\d+\S*/.exec(`${stdout}${stderr}`)?.[0] ?? "of unknown version";
}
