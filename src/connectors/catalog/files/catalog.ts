/** The connector catalog as the rest of the service sees it: judged files, sorted by id. */
import type { Connector, GrantNotes } from "./schema.ts";

export interface ConnectorCatalog {
  /** Names, in the order in which they are shown. */
  categories: readonly string[];
  grantNotes: GrantNotes;
  connectors: readonly Connector[];
}
