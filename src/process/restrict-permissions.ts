import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Folders of ours in the data folder. Those of a fleet's own servers are not: their owners may be other users. */
const ownFolder = /^(postgres|spool|attachments|gateway-\d+)$/;

/**
 * From here on what this process makes is for its user alone, also where the data folder was made beforehand and is open to all, as a
 * volume is; what is in it already is closed.
 */
export function restrictPermissions(dataDir: string): void {
  process.umask(0o077);
  if (!existsSync(dataDir)) return;
  for (const name of readdirSync(dataDir)) if (ownFolder.test(name)) close(join(dataDir, name));
}

function close(folder: string): void {
  try {
    chmodSync(folder, 0o700);
  } catch {
    // A file system without rights, or another user's folder: whether it can be used shows when it is opened.
  }
}
