/**
 * Looks for servers and tools on this machine: on PATH, where Debian has them, or else unpacked from the distribution's packages into a
 * separate folder, with or without root. They are never installed, because on a person's machine that would start and enable daemons.
 */
import { spawnSync, execFile } from "node:child_process";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { mkdir, rename, rm, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { environmentOf, neighbour, type Program } from "./program.ts";

export interface Servers {
  nats: Program;
  redis: Program;
  /** `postgres`, with `initdb` as its neighbour. */
  postgres: Program;
}

export interface Missing {
  /** What to install, for the message. */
  missing: string;
}

const postgresMajorMin = 15;
const installations = "/usr/lib/postgresql";

/** Servers that run here. The first time on a machine without them it takes up to a few minutes. */
export async function findServers(): Promise<Servers | Missing> {
  const nats = await findHere("nats-server");
  const redis = await findHere("redis-server");
  const postgres = await findHere("postgres", isPostgres);
  if (nats && redis && postgres) return { nats, redis, postgres };
  const names = [nats ?? "nats-server", redis ?? "redis-server", postgres ?? `PostgreSQL ${postgresMajorMin} or newer`];
  const list = names.filter((name) => typeof name === "string").join(", ");
  return { missing: `install ${list} (on PATH), or set DATABASE_URL, NATS_URL and REDIS_URL to servers that run` };
}

type Check = (program: Program) => boolean;

/** On PATH or where Debian has it, or else unpacked from its package; null: it is not available. */
export async function findHere(binary: string, works = runs("--version")): Promise<Program | null> {
  for (const folder of folders()) {
    // Links are not resolved: Debian's redis-server is a link to redis-check-rdb, which acts by the name it is called under.
    const path = resolve(folder, binary);
    if (!existsSync(path)) continue;
    const program = { path, libraries: null };
    if (works(program)) return program;
  }
  return await fetchProgram(binary, works);
}

function folders(): string[] {
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const versions = existsSync(installations) ? readdirSync(installations) : [];
  const newestFirst = versions.toSorted((one, other) => Number(other) - Number(one));
  return [...path, "/usr/local/sbin", "/usr/sbin", ...newestFirst.map((number) => join(installations, number, "bin"))];
}

/** @param flag by which a program prints its version */
export function runs(flag: string): Check {
  return (program) => spawnSync(program.path, [flag], { env: environmentOf(program) }).status === 0;
}

function isPostgres(program: Program): boolean {
  const { stdout } = spawnSync(program.path, ["--version"], { env: environmentOf(program), encoding: "utf8" });
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(stdout ?? "")?.[1] ?? 0);
  return major >= postgresMajorMin && runs("--version")(neighbour(program, "initdb"));
}

/** HAProxy, found like the servers; null: it is not available here. */
export function findBalancer(): Promise<Program | null> {
  return findHere("haproxy", runs("-v"));
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

/** If one cannot be downloaded, the others are not attempted. */
let given = true;

/** null if this is not Debian or Ubuntu, or if a download failed. */
async function fetchProgram(binary: string, works: Check): Promise<Program | null> {
  const cache = cacheFolder();
  const kept = findKept(cache, binary, works);
  if (kept !== null && !kept.isOld) return kept.program;
  const packages = packagesOf[binary];
  if (packages === undefined || !given || !(await Apt.isHere())) return kept?.program ?? null;
  console.error(`Fetching ${binary} (${kept === null ? "once" : "again, since it is a week old"}; it is kept in ${cache})`);
  const temporary = join(cache, `.${binary}.${process.pid}`);
  try {
    await mkdir(temporary, { recursive: true });
    const apt = new Apt(join(cache, "apt"));
    await apt.update();
    await unpack({ apt, packages: await packages(apt), folder: temporary, binary });
    await rename(temporary, join(cache, `${binary}-${Date.now()}`));
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

/** Root's is not below its home, which is closed to PostgreSQL's user. */
export function cacheFolder(): string {
  if (process.getuid?.() === 0) return "/var/cache/weir";
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "weir");
}

/** Unpacked programs get no updates from the distribution, so they are downloaded again at this age. */
const ageMsMax = 7 * 86_400_000;
/** After a failed attempt, for example without a network. */
const againMs = 86_400_000;
/** Earlier ones may be running. */
const foldersMax = 3;

interface Unpacked {
  folder: string;
  program: Program;
  isOld: boolean;
}

/** The working one that was unpacked last; null if none works. */
export function findKept(cache: string, binary: string, works: Check): Unpacked | null {
  for (const { folder, ageMs } of foldersOf(cache, binary)) {
    const program = findProgram(folder, binary);
    if (program !== null && works(program)) return { folder, program, isOld: ageMs > ageMsMax };
  }
  return null;
}

/** It counts as outdated again after a day. */
export function postpone({ folder }: Unpacked): void {
  const at = new Date(Date.now() - ageMsMax + againMs);
  utimesSync(folder, at, at);
}

/** Removes all but the last few. */
export async function removeOldest(cache: string, binary: string): Promise<void> {
  for (const { folder } of foldersOf(cache, binary).slice(foldersMax)) await rm(folder, { recursive: true, force: true });
}

function findProgram(folder: string, binary: string): Program | null {
  if (!existsSync(folder)) return null;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const found = files.find((file) => file.name === binary && !file.isDirectory() && file.parentPath.endsWith("bin"));
  if (found === undefined) return null;
  const libraries = files.filter((file) => /\.so(\.|$)/.test(file.name)).map((file) => file.parentPath);
  return { path: join(found.parentPath, binary), libraries: [...new Set(libraries)].join(":") || null };
}

/** The newest first. */
function foldersOf(cache: string, binary: string): { folder: string; ageMs: number }[] {
  const names = existsSync(cache) ? readdirSync(cache) : [];
  const folders = names.filter((name) => name.startsWith(`${binary}-`) && /-\d+$/.test(name));
  const aged = folders.map((name) => ({ folder: join(cache, name), ageMs: Date.now() - statSync(join(cache, name)).mtimeMs }));
  return aged.toSorted((one, other) => one.ageMs - other.ageMs);
}

const run = promisify(execFile);
const commandMsMax = 180_000;
const connectSecondsMax = 10;

/**
 * Reads package lists and downloads packages, without privileges and without changing the system. It keeps its own lists: images have none,
 * and a system's may name packages that the archive no longer has.
 */
class Apt {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  static async isHere(): Promise<boolean> {
    const [apt, dpkg] = await Promise.all(["apt-get", "dpkg"].map((name) => run(name, ["--version"]).catch(() => null)));
    return apt !== null && dpkg !== null;
  }

  async update(): Promise<void> {
    await mkdir(join(this.#folder, "lists", "partial"), { recursive: true });
    await mkdir(join(this.#folder, "archives", "partial"), { recursive: true });
    await this.#command("apt-get", ["update"]);
  }

  /** The direct dependencies of packages, without virtual alternatives. */
  async dependencies(packages: string[]): Promise<string[]> {
    const { stdout } = await this.#command("apt-cache", ["depends", ...packages]);
    return [...new Set([...stdout.matchAll(/^ [ |](?:Pre)?Depends: ([a-z0-9.+-]+)$/gm)].map((match) => match[1] ?? ""))];
  }

  async notInstalled(packages: string[]): Promise<string[]> {
    const states = await Promise.all(
      packages.map((name) => run("dpkg-query", ["-W", "-f", "${db:Status-Status}", name]).catch(() => ({ stdout: "" }))),
    );
    return packages.filter((_, index) => states[index]?.stdout !== "installed");
  }

  /** Downloads packages and unpacks their files below `folder`. */
  async unpack(packages: string[], folder: string): Promise<void> {
    const archives = join(folder, "archives");
    await mkdir(archives, { recursive: true });
    await this.#command("apt-get", ["download", ...packages], archives);
    for (const archive of await readdir(archives)) await run("dpkg", ["-x", join(archives, archive), folder]);
    await rm(archives, { recursive: true });
  }

  async lacksLibraries(program: Program): Promise<boolean> {
    const { stdout } = await run("ldd", [program.path], { env: environmentOf(program) });
    return stdout.includes("not found");
  }

  async #command(name: string, rest: string[], cwd = this.#folder): Promise<{ stdout: string }> {
    const settings = [
      "APT::Sandbox::User=root",
      "Acquire::Retries=0",
      `Acquire::http::Timeout=${connectSecondsMax}`,
      `Acquire::https::Timeout=${connectSecondsMax}`,
      `Dir::State::lists=${join(this.#folder, "lists")}`,
      `Dir::Cache=${this.#folder}`,
    ];
    const words = ["-q", ...settings.flatMap((setting) => ["-o", setting]), ...rest];
    return await run(name, words, { cwd, timeout: commandMsMax, maxBuffer: 1 << 26 });
  }
}
