/** The code of an earlier version, beside the present one. */
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

/**
 * Writes the files of a commit to a temporary folder. Where it has the same dependencies, it shares those that are installed.
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
  const lock = (root: string) => readFile(join(root, "package-lock.json"), "utf8");
  if ((await lock(folder)) === (await lock(repository))) {
    await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
    return;
  }
  const installed = run(["npm", "ci", "--no-audit", "--no-fund"], { cwd: folder, timeout: installMsMax });
  if (installed.status !== 0)
    throw new Error(`Cannot install the dependencies of the former version: ${String(installed.stderr)}`);
}

function run([program = "", ...words]: string[], options: { cwd: string; input?: Buffer; timeout?: number }) {
  return spawnSync(program, words, { timeout: gitMsMax, maxBuffer: archiveBytesMax, ...options });
}
