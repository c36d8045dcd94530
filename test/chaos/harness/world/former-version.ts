/** The code of an earlier version, next to that of the current one. */
import { spawnSync } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { repository } from "../../../support/processes/process.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const gitMsMax = 30_000;
const installMsMax = 120_000;
const archiveBytesMax = 256 * 1024 * 1024;

export interface FormerVersion extends AsyncDisposable {
  folder: string;
}

/** The tag of the newest release before this commit; null: there is none, or the history does not go back to it. */
export function lastRelease(): string | null {
  const { status, stdout } = run(["git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^"], { cwd: repository });
  return status === 0 ? stdout.toString().trim() : null;
}

/**
 * Writes the files of a commit to a temporary folder. Where all of its dependencies are installed here in the same major version, it
 * shares them: an installation would take longer than the test.
 * @returns null where the history does not go back to the commit
 * @throws Error where its dependencies cannot be installed
 */
export async function formerVersion(commit: string): Promise<FormerVersion | null> {
  const archive = run(["git", "archive", "--format=tar", commit], { cwd: repository });
  if (archive.status !== 0) return null;
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  const unpacked = run(["tar", "-x"], { cwd: folder, input: archive.stdout });
  if (unpacked.status !== 0) throw new Error(`Cannot unpack ${commit}: ${String(unpacked.stderr)}`);
  await installIn(folder);
  const kept = stack.move();
  return { folder, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function installIn(folder: string): Promise<void> {
  const [needed, present] = await Promise.all([versionsIn(folder), versionsIn(repository)]);
  if ([...needed].every(([path, version]) => majorOf(present.get(path)) === majorOf(version))) {
    await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
    return;
  }
  const { status, stderr } = run(["npm", "ci", "--no-audit", "--no-fund"], { cwd: folder, timeout: installMsMax });
  if (status !== 0) throw new Error(`Cannot install the dependencies of the former version: ${String(stderr)}`);
}

function majorOf(version = ""): string | undefined {
  return version.split(".")[0];
}

/** The version of each package by its path, as the lock file has them. */
async function versionsIn(root: string): Promise<Map<string, string>> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as LockFile;
  const dependencies = Object.entries(lock.packages).filter(([path]) => path !== "");
  return new Map(dependencies.map(([path, { version }]) => [path, version]));
}

interface LockFile {
  packages: Record<string, { version: string }>;
}

function run([program = "", ...words]: string[], options: { cwd: string; input?: Buffer; timeout?: number }) {
  return spawnSync(program, words, { timeout: gitMsMax, maxBuffer: archiveBytesMax, ...options });
}
