/** Connectors with the forms of the five tested vendors, and a catalog that contains them. */
import type { Database } from "../../../src/backing/backing.ts";
import { nothingKnown } from "../../../src/connectors/catalog/search-terms.ts";
import { loadPublished, type Published, recordCatalog } from "../../../src/connectors/catalog/published.ts";
import type { Connector, Field } from "../../../src/connectors/catalog/files/schema.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { bareConnector } from "../catalog/sample.ts";

type Typed = [key: string, kind: Field["kind"], ...marks: ("secret" | "optional")[]];

function vendor(name: string, ...sets: Typed[][]): Connector {
  const credential_sets = sets.map((fields) => ({
    fields: fields.map(([key, kind, ...marks]) => {
      return { key, label: key, secret: marks.includes("secret"), optional: marks.includes("optional"), kind };
    }),
  }));
  return bareConnector(name, { form: "specific", credential_sets });
}

export const vendors: Connector[] = [
  bareConnector("Generic"),
  vendor(
    "GitHub",
    [
      ["personal_access_token", "text", "secret"],
      ["orgs", "text", "optional"],
    ],
    [
      ["github_app_id", "text"],
      ["github_app_private_key", "multiline", "secret"],
      ["organization", "text"],
    ],
  ),
  bareConnector("Manual", { methods: ["record_only"], form: "none" }),
  vendor("Hosted", [
    ["base_url", "url"],
    ["email", "email"],
    ["account", "json", "secret", "optional"],
    ["key", "multiline", "secret", "optional"],
  ]),
  vendor(
    "Okta",
    [
      ["okta_domain", "text"],
      ["api_token", "text", "secret"],
    ],
    [
      ["okta_domain", "text"],
      ["client_id", "text"],
      ["private_key_id", "text", "optional"],
      ["private_key", "multiline", "secret"],
    ],
  ),
  vendor("Jira", [
    ["jira_domain", "text"],
    ["email_address", "email"],
    ["api_token", "text", "secret"],
  ]),
  vendor("Microsoft Entra ID", [
    ["entra_tenant_id", "text"],
    ["entra_client_id", "text"],
    ["entra_client_secret", "text", "secret"],
  ]),
  vendor("Google Workspace", [
    ["customer_id", "text"],
    ["domain", "text", "optional"],
    ["administrator_email", "email"],
    ["credentials", "json", "secret"],
  ]),
  vendor("Datadog", [
    ["datadog_site", "text"],
    ["api_key", "text", "secret"],
    ["application_key", "text", "secret"],
  ]),
];

export async function publishVendors(sql: Database): Promise<Published> {
  const connectors = vendors.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const catalog = { categories: ["HRIS"], grantNotes: [], connectors };
  return loadPublished(await recordCatalog(catalog, { sql, clock: systemClock }), { sql, known: nothingKnown });
}
