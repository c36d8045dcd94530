import { linkSync, rmSync, writeFileSync } from "node:fs";

/**
 * Creates a file that only its owner can read, unless it exists. The text is first written to another file, so that a reader sees
 * all of it, whichever of several processes comes first.
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
