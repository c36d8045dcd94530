/** Looks for the three servers on this machine. Packages of Debian and Ubuntu are downloaded, never installed. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { fetchProgram } from "./fetch-program.ts";
import { environmentOf, neighbour, type Program } from "./program.ts";

export interface Servers {
  nats: Program;
  redis: Program;
  /** `postgres`, with `initdb` as its neighbour. */
  postgres: Program;
}

export interface Missing {
  /** What to install, for the reader of the message. */
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

/** On PATH or where Debian has it, or else unpacked from its package; null: it is not available. */
export async function findHere(binary: string, works = runs("--version")): Promise<Program | null> {
  for (const folder of folders()) {
    // Not what a link leads to: Debian's redis-server is a link to redis-check-rdb, which decides by its own name what it is.
    const path = resolve(folder, binary);
    if (!existsSync(path)) continue;
    const program = { path, libraries: null };
    if (works(program)) return program;
  }
  return await fetchProgram({ binary, works });
}

function folders(): string[] {
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const versions = existsSync(installations) ? readdirSync(installations) : [];
  const newestFirst = versions.toSorted((one, other) => Number(other) - Number(one));
  return [...path, "/usr/local/sbin", "/usr/sbin", ...newestFirst.map((number) => join(installations, number, "bin"))];
}

/** @param flag by which a program prints its version */
export function runs(flag: string): (program: Program) => boolean {
  return (program) => spawnSync(program.path, [flag], { env: environmentOf(program) }).status === 0;
}

function isPostgres(program: Program): boolean {
  const { stdout } = spawnSync(program.path, ["--version"], { env: environmentOf(program), encoding: "utf8" });
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(stdout ?? "")?.[1] ?? 0);
  return major >= postgresMajorMin && runs("--version")(neighbour(program, "initdb"));
}

/** HAProxy, which comes from Debian's package as the servers do; null: it is not available here. */
export function findBalancer(): Promise<Program | null> {
  return findHere("haproxy", runs("-v"));
}
