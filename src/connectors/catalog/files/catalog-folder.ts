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
    connectors: await Promise.all(names.map((name) => read(`connectors/${name}`))),
  };
}
