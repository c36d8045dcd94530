/**
 * Writes the five columns of a connector in the specification's words: how to connect, what to fill in, what to grant. A dash stands for
 * the unknown, never a guess.
 */
import type { ConnectorCatalog, Connector, CredentialSet, Grant, Method } from "./schema.ts";

interface Columns {
  connect_with: string;
  form_asks_for: string;
  grant_at_the_vendor: string;
  vendor_docs: string;
}

const dash = "—";

export const methodNames: Record<Method, string> = {
  oauth: "OAuth",
  api_token: "API token",
  mcp: "MCP server",
  record_only: "Record only",
};

export function columnsOf(connector: Connector, { grantNotes }: Pick<ConnectorCatalog, "grantNotes">): Columns {
  return {
    connect_with: connector.methods.map((method) => methodNames[method]).join(", "),
    form_asks_for: credentialSetsOf(connector).map(labelsOf).join("; or, instead: ") || dash,
    grant_at_the_vendor: grantText(connector.grant, grantNotes) || dash,
    vendor_docs: connector.docs ?? dash,
  };
}

const genericSet: CredentialSet = {
  fields: [
    { key: "api_token", label: "API token / Personal access token", secret: true, optional: false, kind: "text" },
    { key: "base_url", label: "Base URL", secret: false, optional: true, kind: "url" },
    { key: "account", label: "Account / Org / Workspace", secret: false, optional: true, kind: "text" },
  ],
};

/** The form's alternatives, the default first; the generic form if the vendor's is unknown. */
export function credentialSetsOf({ form, credential_sets = [] }: Connector): readonly CredentialSet[] {
  return form === "generic" ? [genericSet] : credential_sets.map(({ grant: _, ...set }) => set);
}

/** The vendor's words for what to grant; null if only notes are known. */
export function grantName({ text, scopes }: Grant): string | null {
  return text ?? (scopes.join(", ") || null);
}

/** The notes' texts, in order. */
export function noteTexts({ notes, plan }: Grant, grantNotes: ConnectorCatalog["grantNotes"]): string[] {
  const texts = new Map(grantNotes.map(({ code, text }) => [code, text]));
  return notes.map((code) => (texts.get(code) ?? code).replace("{plan}", plan ?? ""));
}

/** What a person fills in: all fields but those whose value Weir makes. */
export function askedFields({ fields }: Pick<CredentialSet, "fields">): CredentialSet["fields"] {
  return fields.filter(({ generated }) => generated !== true);
}

/** The labels of a set's fields. */
export function labelsOf({ fields }: Pick<CredentialSet, "fields">): string {
  return fields.map(({ label, optional }) => (optional ? `${label} (optional)` : label)).join(", ");
}

function grantText(grant: Grant | null, grantNotes: ConnectorCatalog["grantNotes"]): string {
  if (grant === null) return "";
  return [grantName(grant), ...noteTexts(grant, grantNotes)].filter((part) => part !== null).join("; ");
}
