/**
 * Unpacks a server from the distribution's packages into a folder of its own, as root or not. It is never installed: on a
 * person's machine that would start and enable daemons.
 */
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Apt } from "./apt.ts";
import type { Program } from "./program.ts";

export interface Fetch {
  binary: string;
  works(program: Program): boolean;
}

/** The packages that hold a binary. PostgreSQL's is named after the release's version of it. */
const packagesOf: Record<string, (apt: Apt) => Promise<string[]>> = {
  "nats-server": () => Promise.resolve(["nats-server"]),
  "redis-server": () => Promise.resolve(["redis-server", "redis-tools"]),
  postgres: async (apt) => (await apt.dependencies(["postgresql"])).filter((name) => /^postgresql-\d+$/.test(name)),
};

/** Where one cannot be fetched, the others are not waited for. */
let given = true;

/** null when this is not Debian or Ubuntu, or when they could not be fetched. */
export async function fetchProgram({ binary, works }: Fetch): Promise<Program | null> {
  const home = join(cacheFolder(), binary);
  const kept = findUnpacked(home, binary);
  if (kept && works(kept)) return kept;
  const packages = packagesOf[binary];
  if (packages === undefined || !given || !(await Apt.isHere())) return null;
  console.error(`Fetching ${binary} (once; it is kept in ${home})`);
  const temporary = `${home}.${process.pid}`;
  try {
    await mkdir(temporary, { recursive: true });
    const apt = new Apt(join(cacheFolder(), "apt"));
    await apt.useLists("nats-server");
    await unpack({ apt, packages: await packages(apt), folder: temporary, binary });
    if (kept !== null) await rm(home, { recursive: true, force: true });
    // Another process may have been quicker: then its files are used.
    await rename(temporary, home).catch(() => {});
  } catch (error) {
    given = false;
    console.error(`Cannot fetch ${binary}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  const fetched = findUnpacked(home, binary);
  return fetched && works(fetched) ? fetched : null;
}

interface Unpacking {
  apt: Apt;
  packages: string[];
  folder: string;
  binary: string;
}

const libraryRoundsMax = 6;

/** The packages, then the libraries they depend on, as long as the binary lacks one. LLVM is for a compiler that we switch off. */
async function unpack({ apt, packages, folder, binary }: Unpacking): Promise<void> {
  await apt.unpack(packages, folder);
  const unpacked = new Set(packages);
  let round = packages;
  for (let count = 0; count < libraryRoundsMax; count++) {
    const program = findUnpacked(folder, binary);
    if (program === null || !(await apt.lacksLibraries(program))) return;
    const libraries = (await apt.dependencies(round)).filter((name) => /^(lib(?!llvm)|lua)/.test(name) && !unpacked.has(name));
    round = await apt.notInstalled(libraries);
    if (round.length === 0) return;
    await apt.unpack(round, folder);
    for (const name of round) unpacked.add(name);
  }
}

/** As root not below its home, which is closed to the user that PostgreSQL must run as. */
export function cacheFolder(): string {
  if (process.getuid?.() === 0) return "/var/cache/weir";
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "weir");
}

function findUnpacked(folder: string, binary: string): Program | null {
  if (!existsSync(folder)) return null;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const found = files.find((file) => file.name === binary && !file.isDirectory() && file.parentPath.endsWith("bin"));
  if (found === undefined) return null;
  const libraries = files.filter((file) => /\.so(\.|$)/.test(file.name)).map((file) => file.parentPath);
  return { path: join(found.parentPath, binary), libraries: [...new Set(libraries)].join(":") || null };
}
