import { statSync } from "node:fs";
import { ConfigError, text, type Environment } from "../variables.ts";

const fallback = "./catalog-data";

/** @throws ConfigError when CATALOG_DIR is set and is no folder: a service without a catalog refuses every request */
export function readCatalogDir(environment: Environment): string {
  const folder = text(environment, "CATALOG_DIR", fallback);
  const isGiven = folder !== fallback;
  if (!isGiven || statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new ConfigError(`CATALOG_DIR is "${folder}", where there is no folder: one like catalog-data is needed`);
}
