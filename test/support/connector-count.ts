/** How many connectors this repository ships, so that a further one is one further file. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export const connectorCount = readdirSync(join(import.meta.dir, "../../catalog-data/connectors")).length;
