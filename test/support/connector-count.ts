/** The number of connectors in this repository, so that adding one adds only one file. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export const connectorCount = readdirSync(join(import.meta.dir, "../../catalog-data/connectors")).length;
