/** A published connector: the machine form and the columns, in a fixed order. */
import { Type, type Static } from "@sinclair/typebox";
import type { ConnectorCatalog } from "./files/catalog.ts";
import { columnsOf, credentialSetsOf, grantName } from "./files/columns.ts";
import { Connector, CredentialSet, type Grant } from "./files/schema.ts";

const { id, slug, name, vendor, category, methods, form, grant, docs, mcp, evidence } = Connector.properties;

/** Readers must ignore unknown fields: fields may be added. */
export const ConnectorRow = Type.Object({
  id,
  slug,
  name,
  vendor,
  category,
  methods,
  form,
  credential_sets: Type.Array(CredentialSet, {
    description:
      "What the form asks for: the first set is the default, the others are alternatives; empty if it asks for nothing",
  }),
  grant,
  docs,
  mcp,
  evidence,
  columns: Type.Object(
    {
      connect_with: Type.String({ description: "The ways to connect" }),
      form_asks_for: Type.String({ description: "The labels of the form's fields" }),
      grant_at_the_vendor: Type.String({ description: "What to create at the vendor" }),
      vendor_docs: Type.String({ description: "The vendor's page on it" }),
    },
    { description: "The same for people, in fixed words; — means unknown" },
  ),
});
export type ConnectorRow = Static<typeof ConnectorRow>;

export function rowOf(connector: Connector, catalog: Pick<ConnectorCatalog, "grantNotes">): ConnectorRow {
  const { id, slug, name, vendor, category, methods, form, docs, mcp, evidence } = connector;
  return {
    id,
    slug,
    name,
    vendor,
    category,
    methods,
    form,
    credential_sets: [...credentialSetsOf(connector)],
    grant: publishedGrant(connector.grant),
    docs,
    mcp,
    evidence,
    columns: columnsOf(connector, catalog),
  };
}

/** If the scopes are sufficient, they are also the text. */
function publishedGrant(grant: Grant | null): Grant | null {
  return grant && { ...grant, text: grantName(grant) };
}
