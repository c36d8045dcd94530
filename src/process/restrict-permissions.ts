import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The service's folders in the data folder; the servers of a fleet may have others, which other users may own. */
const ownFolder = /^(postgres|spool|attachments|gateway-\d+)$/;

/**
 * From here on only this process's user can access the files that it creates, even if the data folder is open to all, as a volume
 * often is. Restricts existing folders as well.
 */
export function restrictPermissions(dataDir: string): void {
  process.umask(0o077);
  for (const name of namesIn(dataDir)) if (ownFolder.test(name)) close(join(dataDir, name));
}

/** Those of a folder that is missing, no folder or closed to this user are none: whoever needs it says so. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function close(folder: string): void {
  try {
    chmodSync(folder, 0o700);
  } catch {
    // A file system without permissions, or another user's folder; an error would appear when it is opened.
  }
}
