import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

export interface ServerFolder {
  home: string;
  password: string;
}

/**
 * Creates a server's folder and, on first use, its password, because other users of this machine can reach loopback.
 * @param owner the server's user; null: ours
 * @param first its password if it has none yet; by default one of its own
 */
export async function openFolder(
  folder: string,
  owner: { uid: number; gid: number } | null,
  first = randomBytes(24).toString("hex"),
): Promise<ServerFolder> {
  const home = resolve(folder);
  await mkdir(home, { recursive: true });
  await chmod(home, 0o700);
  if (owner !== null) await chown(home, owner.uid, owner.gid);
  const path = join(home, "password");
  const password = (await readFile(path, "utf8").catch(() => "")) || first;
  await writeFile(path, password, { mode: 0o600 });
  if (owner !== null) await chown(path, owner.uid, owner.gid);
  return { home, password };
}
