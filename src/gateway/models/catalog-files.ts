/** The files of a catalog folder, before validation. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface CatalogFile {
  /** Relative to the folder, such as `models/openai.json`. */
  name: string;
  text: string;
}

export interface CatalogFiles {
  providers: CatalogFile;
  /** Sorted by name. */
  models: CatalogFile[];
  /** SHA-256 over names and contents, in hexadecimal. */
  digest: string;
}

/** @throws Error of the file system when providers.json or the folder `models` cannot be read */
export async function readCatalogFiles(folder: string): Promise<CatalogFiles> {
  const names = (await readdir(join(folder, "models"))).filter((name) => name.endsWith(".json")).toSorted();
  const providers = await readOne(folder, "providers.json");
  const models = await Promise.all(names.map((name) => readOne(folder, `models/${name}`)));
  const hash = createHash("sha256");
  for (const file of [providers, ...models]) hash.update(`${file.name}\0${file.text}\0`);
  return { providers, models, digest: hash.digest("hex") };
}

async function readOne(folder: string, name: string): Promise<CatalogFile> {
  return { name, text: await readFile(join(folder, name), "utf8") };
}
