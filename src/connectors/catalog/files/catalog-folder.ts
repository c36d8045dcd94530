/** Reads the files of the connector catalog, before any check. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface CatalogFile {
  /** Relative to the catalog's folder, such as `connectors/okta.json`. */
  name: string;
  text: string;
}

export interface ConnectorFiles {
  categories: CatalogFile;
  grantNotes: CatalogFile;
  oauthApps: CatalogFile;
  /** null if there is none, as in a folder of an earlier version. */
  searchWords: CatalogFile | null;
  /** Sorted by name. */
  connectors: CatalogFile[];
}

/** @throws Error of the file system when a file cannot be read */
export async function readConnectorFiles(folder: string): Promise<ConnectorFiles> {
  const read = async (name: string): Promise<CatalogFile> => ({ name, text: await readFile(join(folder, name), "utf8") });
  const names = (await readdir(join(folder, "connectors"))).filter((name) => !name.startsWith(".")).toSorted();
  return {
    categories: await read("categories.json"),
    grantNotes: await read("grant-notes.json"),
    oauthApps: await read("oauth-apps.json"),
    searchWords: await read("search-words.json").catch(nullIfAbsent),
    connectors: await Promise.all(names.map((name) => read(`connectors/${name}`))),
  };
}

function nullIfAbsent(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}
