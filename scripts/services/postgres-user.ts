import { spawnSync } from "node:child_process";
import { ServerError } from "./server-error.ts";

export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root, so it then runs as `postgres` or else `nobody`. null: it runs as our user. */
export function serverUser(): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = ["-u", "-g"].map((flag) => spawnSync("id", [flag, name], { encoding: "utf8" }));
    if (uid?.status === 0 && gid?.status === 0) return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new ServerError('Cannot run PostgreSQL as root, and there is no user "postgres" or "nobody": run as another user');
}

/** @throws ServerError that names the path which the user cannot reach, because a folder above it is closed */
export function checkReach(user: ServerUser | null, paths: string[]): void {
  if (user === null) return;
  for (const path of paths) {
    const { status } = spawnSync("test", ["-x", path], { uid: user.uid, gid: user.gid });
    if (status === 0) continue;
    throw new ServerError(
      `Cannot run PostgreSQL as user "${user.name}": "${path}" is closed to it. ` +
        "Run as a user other than root, or set DATA_DIR to a folder that others may enter",
    );
  }
}
