/** Writes files of models, all or none as far as a file system can: every file is complete before the first is replaced. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelEntry } from "../schema.ts";

/** The text of a file of models. */
export function modelsText(entries: readonly ModelEntry[]): string {
  return `${JSON.stringify(entries, null, 2)}\n`;
}

/** @param files by name, such as `openai` for models/openai.json; without entries: the file is removed */
export async function writeModelFiles(folder: string, files: ReadonlyMap<string, readonly ModelEntry[]>): Promise<void> {
  const path = (name: string): string => join(folder, "models", `${name}.json`);
  const written = [...files].filter(([, entries]) => entries.length > 0);
  // A name that the service does not read: it reads *.json.
  const partial = (name: string): string => `${path(name)}.${process.pid}.partial`;
  try {
    for (const [name, entries] of written) await writeFile(partial(name), modelsText(entries), { flag: "wx" });
    for (const [name] of written) await rename(partial(name), path(name));
    for (const [name, entries] of files) if (entries.length === 0) await rm(path(name), { force: true });
  } finally {
    for (const [name] of written) await rm(partial(name), { force: true });
  }
}
