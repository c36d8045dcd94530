import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The service's folders in the data folder; the servers of a fleet may have others, which other users may own. */
const ownFolder = /^(postgres|spool|attachments|gateway-\d+)$/;

/**
 * From here on only this process's user can access the files that it creates, even if the data folder is open to all, as a volume
 * often is. Restricts existing folders as well.
 */
export function restrictPermissions(dataDir: string): void {
  process.umask(0o077);
  if (!isFolder(dataDir)) return;
  for (const name of readdirSync(dataDir)) if (ownFolder.test(name)) close(join(dataDir, name));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function close(folder: string): void {
  try {
    chmodSync(folder, 0o700);
  } catch {
    // A file system without permissions, or another user's folder; an error would appear when it is opened.
  }
}
