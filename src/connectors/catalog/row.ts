/**
 * A published connector: the machine form and the columns, in a fixed order, and the JSON Schema of a row
 * (https://json-schema.org/draft/2020-12). Fields may be added, so readers must ignore unknown ones. A row has a connector's whole grant;
 * the part that a single set of credentials needs is only in the files.
 */
import { Type, type Static } from "@sinclair/typebox";
import { jsonSchema } from "../../http/json-schema.ts";
import { columnsOf, credentialSetsOf, grantName } from "./files/columns.ts";
import { type ConnectorCatalog, Connector, CredentialSet, type Grant, oneOf } from "./files/schema.ts";

const { id, slug, name, vendor, category, methods, form, grant, docs, mcp, evidence } = Connector.properties;

/** A row of every export. */
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

/** Connectors whose credentials are tested by code, in connections/probes.ts. */
export const testedByCode: readonly string[] = ["datadog", "github", "google-workspace", "jira", "microsoft-entra-id", "okta"];

/** Whether the credentials of at least one set can be tested. */
export function isTestable({ id, credential_sets: sets }: Pick<ConnectorRow, "id" | "credential_sets">): boolean {
  return testedByCode.includes(id) || sets.some(({ probe }) => probe !== undefined);
}

/** @param categories names of categories.json; empty while there is no catalog, and then any name is allowed */
export function rowSchemaText(categories: readonly string[]): string {
  const category = categories.length > 0 ? oneOf(categories) : ConnectorRow.properties.category;
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "/api/connector-schema.json",
    title: "A row of the connector catalog",
    ...jsonSchema(Type.Object({ ...ConnectorRow.properties, category }), new Map()),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/**
 * For each connector id, the part of the grant that each set of credentials needs, in the order of the sets; undefined for a set that needs
 * the whole grant.
 */
export type SetGrants = ReadonlyMap<string, readonly (Grant | null | undefined)[]>;

export function setGrantsOf(catalog: Pick<ConnectorCatalog, "connectors"> | null): SetGrants {
  const own = (catalog?.connectors ?? []).flatMap(({ id, credential_sets = [] }) => {
    const grants = credential_sets.map(({ grant }) => grant);
    return grants.every((grant) => grant === undefined) ? [] : [[id, grants] as const];
  });
  return new Map(own);
}

/** What to grant for each set; one item if all sets need the same. */
export function grantsOf({ id, grant, credential_sets }: ConnectorRow, known: SetGrants): (Grant | null)[] {
  const own = known.get(id);
  if (own?.length !== credential_sets.length) return [grant];
  return own.map((one) => (one === undefined ? grant : one));
}

/** If the scopes are sufficient, the text lists them. */
function publishedGrant(grant: Grant | null): Grant | null {
  return grant && { ...grant, text: grantName(grant) };
}
