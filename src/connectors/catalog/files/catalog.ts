/** The checked connector catalog, sorted by id. */
import type { Connector, GrantNotes } from "./schema.ts";

export interface ConnectorCatalog {
  /** Names, in display order. */
  categories: readonly string[];
  grantNotes: GrantNotes;
  connectors: readonly Connector[];
}
