/**
 * Unpacks a server from the distribution's packages into a separate folder, as root or not. It is never installed, because on a
 * person's machine that would start and enable daemons.
 */
import { mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Apt } from "./apt.ts";
import type { Program } from "./program.ts";
import { findKept, findProgram, newFolder, postpone, removeOldest } from "./unpacked.ts";

export interface Fetch {
  binary: string;
  works(program: Program): boolean;
}

/** The packages that contain a binary. PostgreSQL's is named after its version in the release. */
const packagesOf: Record<string, (apt: Apt) => Promise<string[]>> = {
  haproxy: () => Promise.resolve(["haproxy"]),
  nginx: () => Promise.resolve(["nginx"]),
  "nats-server": () => Promise.resolve(["nats-server"]),
  promtool: () => Promise.resolve(["prometheus"]),
  "redis-server": () => Promise.resolve(["redis-server", "redis-tools"]),
  postgres: async (apt) => (await apt.dependencies(["postgresql"])).filter((name) => /^postgresql-\d+$/.test(name)),
};

/** If one cannot be downloaded, the others are not awaited. */
let given = true;

/** null if this is not Debian or Ubuntu, or if a download failed. */
export async function fetchProgram({ binary, works }: Fetch): Promise<Program | null> {
  const cache = cacheFolder();
  const kept = findKept(cache, binary, works);
  if (kept !== null && !kept.isOld) return kept.program;
  const packages = packagesOf[binary];
  if (packages === undefined || !given || !(await Apt.isHere())) return kept?.program ?? null;
  console.error(`Fetching ${binary} (${kept === null ? "once" : "anew, for it is a week old"}; it is kept in ${cache})`);
  const folder = newFolder(cache, binary, Date.now());
  const temporary = join(cache, `.${binary}.${process.pid}`);
  try {
    await mkdir(temporary, { recursive: true });
    const apt = new Apt(join(cache, "apt"));
    await apt.useLists("nats-server");
    await unpack({ apt, packages: await packages(apt), folder: temporary, binary });
    await rename(temporary, folder);
    await removeOldest(cache, binary);
  } catch (error) {
    given = false;
    if (kept !== null) postpone(kept);
    console.error(`Cannot fetch ${binary}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return findKept(cache, binary, works)?.program ?? null;
}

interface Unpacking {
  apt: Apt;
  packages: string[];
  folder: string;
  binary: string;
}

const libraryRoundsMax = 6;

/**
 * The packages, then the libraries they depend on, until the binary has all of them. LLVM is for a compiler that is switched
 * off.
 */
async function unpack({ apt, packages, folder, binary }: Unpacking): Promise<void> {
  await apt.unpack(packages, folder);
  const unpacked = new Set(packages);
  let round = packages;
  for (let count = 0; count < libraryRoundsMax; count++) {
    const program = findProgram(folder, binary);
    if (program === null || !(await apt.lacksLibraries(program))) return;
    const libraries = (await apt.dependencies(round)).filter((name) => /^(lib(?!llvm)|lua)/.test(name) && !unpacked.has(name));
    round = await apt.notInstalled(libraries);
    if (round.length === 0) return;
    await apt.unpack(round, folder);
    for (const name of round) unpacked.add(name);
  }
}

/** As root not below its home, which is closed to the user of PostgreSQL. */
export function cacheFolder(): string {
  if (process.getuid?.() === 0) return "/var/cache/weir";
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "weir");
}
