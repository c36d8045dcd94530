/** A copy of the catalog's folder that a test may change, as a maintainer would. */
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalText } from "../../../src/connectors/catalog/files/format.ts";
import type { Connector } from "../../../src/connectors/catalog/files/schema.ts";
import { repository } from "../../support/processes/process.ts";
import { noteCodes } from "./sample.ts";

export class CatalogCopy {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async in(folder: string): Promise<CatalogCopy> {
    const copy = join(folder, "catalog");
    await cp(join(repository, "catalog-data"), copy, { recursive: true });
    return new CatalogCopy(copy);
  }

  /** A service starts with it in less than half of the CPU time. */
  static async withoutConnectors(folder: string): Promise<CatalogCopy> {
    const copy = join(folder, "catalog");
    const isConnector = (path: string): boolean => path.includes("/connectors/");
    await cp(join(repository, "catalog-data"), copy, { recursive: true, filter: (path) => !isConnector(path) });
    return new CatalogCopy(copy);
  }

  async write(connector: Connector): Promise<void> {
    await writeFile(this.#file(connector.slug), canonicalText(connector, noteCodes));
  }

  async change(slug: string, changes: Partial<Connector>): Promise<void> {
    const connector: Connector = JSON.parse(await readFile(this.#file(slug), "utf8"));
    await this.write({ ...connector, ...changes });
  }

  remove(slug: string): Promise<void> {
    return rm(this.#file(slug));
  }

  #file(slug: string): string {
    return join(this.folder, "connectors", `${slug}.json`);
  }
}
