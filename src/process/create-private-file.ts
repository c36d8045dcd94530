import { linkSync, rmSync, writeFileSync } from "node:fs";

/**
 * Makes a file that only its owner reads, unless it is there. Written whole under another name first: who reads it sees all of
 * it, whoever of several processes was first.
 */
export function createPrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
