/** A small valid catalog, for tests that break one rule. */
import { readFileSync } from "node:fs";
import { canonicalText } from "../../../src/connectors/catalog/files/format.ts";
import type { ConnectorFiles } from "../../../src/connectors/catalog/files/read-file.ts";
import type { Connector } from "../../../src/connectors/catalog/files/schema.ts";

const data = new URL("../../../catalog-data/", import.meta.url);
const textOf = (name: string): string => readFileSync(new URL(name, data), "utf8");

export const noteCodes: string[] = JSON.parse(textOf("grant-notes.json")).map(({ code }: { code: string }) => code);

export function sampleConnector(changes: Partial<Connector> = {}): Connector {
  return {
    id: "acme-directory",
    slug: "acme-directory",
    name: "Acme Directory",
    aka: ["Acme People"],
    vendor: "Acme",
    category: "Identity & SSO",
    methods: ["api_token", "mcp"],
    vendor_oauth: true,
    form: "specific",
    credential_sets: [
      {
        fields: [
          { key: "org_url", label: "Org URL", secret: false, optional: false, kind: "url", example: "https://acme.example" },
          { key: "api_key", label: "API key", secret: true, optional: false, kind: "text" },
        ],
      },
    ],
    grant: { text: null, scopes: ["groups.read", "users.read"], notes: ["vendor_plan_required"], plan: "Enterprise" },
    docs: "https://docs.acme.example/api",
    mcp: { url: "https://mcp.acme.example/mcp" },
    evidence: [
      { url: "https://docs.acme.example/api", for: ["fields", "grant", "docs"], seen: "2026-11-20" },
      { url: "https://docs.acme.example/mcp", for: ["mcp", "oauth"], seen: "2026-11-20" },
    ],
    ...changes,
  };
}

/** A connector with no known facts besides its name. */
export function bareConnector(name: string, changes: Partial<Connector> = {}): Connector {
  const slug = name.toLowerCase().replaceAll(" ", "-");
  return {
    id: slug,
    slug,
    name,
    vendor: name,
    category: "HRIS",
    methods: ["api_token"],
    form: "generic",
    grant: null,
    docs: null,
    mcp: null,
    evidence: [],
    ...changes,
  };
}

export function recordOnly(name: string): Connector {
  return bareConnector(name, { category: "Cyber Insurance", methods: ["record_only"], form: "none" });
}

/** The connectors as files, with the real categories and notes. */
export function filesOf(connectors: readonly Connector[], oauthApps: string[] = []): ConnectorFiles {
  return {
    categories: { name: "categories.json", text: textOf("categories.json") },
    grantNotes: { name: "grant-notes.json", text: textOf("grant-notes.json") },
    searchWords: null,
    oauthApps: { name: "oauth-apps.json", text: JSON.stringify(oauthApps.map((connector) => ({ connector }))) },
    connectors: connectors.map((connector) => ({
      name: `connectors/${connector.slug}.json`,
      text: canonicalText(connector, noteCodes),
    })),
  };
}
