/** Reads the lock files of a local folder. It reads no other file and follows no symbolic link. */
import { open, opendir } from "node:fs/promises";
import { constants } from "node:fs";
import { join } from "node:path";
import { folderDepthMax, lockFileBytesMax, repositoryFoldersMax } from "../limits.ts";
import { isLockFileOrCompanion } from "../lockfiles/formats.ts";
import { CollectedFiles, isIgnored, type RepositoryFiles } from "./collected-files.ts";
import { DomainError } from "../../accounts/errors.ts";

/** @throws DomainError for a folder that is too large; Error of the file system if it is not a folder */
export async function folderFiles(folder: string): Promise<RepositoryFiles> {
  const found = new CollectedFiles();
  const folders = [""];
  let visited = 0;
  for (let within = folders.pop(); within !== undefined; within = folders.pop()) {
    if (++visited > repositoryFoldersMax)
      throw new DomainError(
        "invalid_field",
        `The folder "${folder}" holds more than ${repositoryFoldersMax} folders, the most that are looked through`,
      );
    for await (const entry of await opendir(join(folder, within))) {
      const path = within === "" ? entry.name : `${within}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!isIgnored(entry.name) && path.split("/").length <= folderDepthMax) folders.push(path);
      } else if (isLockFileOrCompanion(path)) {
        if (entry.isFile()) await addFile({ folder, path }, found);
        else found.refuse(path, "is a link, and links are not followed");
      }
    }
  }
  return found;
}

/** Opened with a flag that fails if a link has replaced the file since. */
async function addFile({ folder, path }: { folder: string; path: string }, found: CollectedFiles): Promise<void> {
  const file = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    if (size > lockFileBytesMax) found.refuse(path, `is larger than ${lockFileBytesMax / 1024 / 1024} MiB`);
    else found.add({ path, bytes: await file.readFile() });
  } finally {
    await file.close();
  }
}
