/** This repository's catalog, for the processes of tests. */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { repository } from "../processes/process.ts";
import { temporaryFolder } from "../servers/services.ts";

/** With every connector. */
export const wholeCatalog = join(repository, "catalog-data");

let alone: Promise<string> | null = null;

/** The folder of a catalog with every model and no connector. */
export function modelsAlone(): Promise<string> {
  return (alone ??= linkModels());
}

async function linkModels(): Promise<string> {
  const folder = await temporaryFolder("models");
  for (const name of ["models", "providers.json"]) await symlink(join(wholeCatalog, name), join(folder, name));
  return folder;
}
