/**
 * The vendors' probes: each is a call that reads as little as possible and shows whether the credentials work. Above each is a link to the
 * vendor's documentation. A connector's alternative without a probe has no test.
 *
 * Most connectors declare theirs in the catalog, as declared-probe.ts reads it; here are those that need more than a template. How calls are
 * made is in probe.ts.
 */
import { createPrivateKey, sign, type KeyObject } from "node:crypto";
import type { Clock } from "../../kernel/clock.ts";
import type { ConnectorRow } from "../catalog/row.ts";
import { probeOf } from "./declared-probe.ts";
import { CredentialError, headerText, type Probe, callWithToken, vendorOrigin, type TokenRequest } from "./probe.ts";

/** https://docs.datadoghq.com/getting_started/site/ */
const datadogSites = [
  "datadoghq.com",
  "us3.datadoghq.com",
  "us5.datadoghq.com",
  "datadoghq.eu",
  "ap1.datadoghq.com",
  "ap2.datadoghq.com",
  "ddog-gov.com",
];

/** An API key with an application key: https://docs.datadoghq.com/api/latest/authentication/ */
const datadog: Probe = {
  connector: "datadog",
  needs: ["datadog_site", "api_key", "application_key"],
  async call(value, { probeFetch }) {
    const site = value("datadog_site")
      .toLowerCase()
      .replace(/^https:\/\//, "")
      .replace(/^(app|api)\./, "")
      .replace(/\/$/, "");
    if (!datadogSites.includes(site)) throw new CredentialError("datadog_site", `one of ${datadogSites.join(", ")} is needed`);
    const headers = {
      accept: "application/json",
      "dd-api-key": headerText("api_key", value("api_key")),
      "dd-application-key": headerText("application_key", value("application_key")),
    };
    return probeFetch({ method: "GET", url: new URL(`https://api.${site}/api/v2/users?page[size]=1`), headers });
  },
};

/** Used instead of the file's `token_uri`: the assertion is valid only for this address. */
const googleTokenUrl = "https://oauth2.googleapis.com/token";
const googleScope = "https://www.googleapis.com/auth/admin.directory.user.readonly";
const googleAssertionSeconds = 300;
const googleField = "credentials";

/** A signed service account: https://developers.google.com/identity/protocols/oauth2/service-account#httprest */
const googleWorkspace: Probe = {
  connector: "google-workspace",
  needs: ["customer_id", "administrator_email", googleField],
  async call(value, { probeFetch, clock }) {
    const url = new URL("https://admin.googleapis.com/admin/directory/v1/users?maxResults=1");
    url.searchParams.set("customer", value("customer_id"));
    return callWithToken({ ...googleToken(value, clock), url }, probeFetch);
  },
};

/** Asks for a token that reads the directory's users as the administrator. @throws CredentialError */
export function googleToken(value: (key: string) => string, clock: Clock): TokenRequest {
  const { email, keyId, key } = readAccount(value(googleField));
  const now = Math.floor(clock.now() / 1_000);
  const claims = {
    iss: email,
    sub: value("administrator_email"),
    scope: googleScope,
    aud: googleTokenUrl,
    iat: now,
    exp: now + googleAssertionSeconds,
  };
  const grant = {
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: signed({ header: { alg: "RS256", typ: "JWT", ...(keyId !== null && { kid: keyId }) }, claims, key }),
  };
  return { tokenUrl: new URL(googleTokenUrl), grant };
}

interface ServiceAccount {
  email: string;
  keyId: string | null;
  key: KeyObject;
}

function readAccount(text: string): ServiceAccount {
  let account: Record<string, unknown>;
  let key: KeyObject;
  try {
    account = { ...JSON.parse(text) };
    key = createPrivateKey(String(account["private_key"]));
  } catch {
    throw new CredentialError(googleField, "the JSON file of a service account's key is needed");
  }
  const { client_email: email, private_key_id: keyId } = account;
  if (key.asymmetricKeyType !== "rsa" || typeof email !== "string") {
    throw new CredentialError(googleField, "a service account's e-mail address and RSA key are needed");
  }
  return { email, keyId: typeof keyId === "string" ? keyId : null, key };
}

/** A JSON Web Token (RFC 7519) with RS256. */
function signed({ header, claims, key }: { header: object; claims: object; key: KeyObject }): string {
  const encoded = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${encoded}.${sign("sha256", Buffer.from(encoded), key).toString("base64url")}`;
}

/** Basic: https://developer.atlassian.com/cloud/jira/platform/basic-auth-for-rest-apis/ */
const jira: Probe = {
  connector: "jira",
  needs: ["jira_domain", "email_address", "api_token"],
  async call(value, { probeFetch }) {
    const origin = vendorOrigin({ field: "jira_domain", text: value("jira_domain"), ends: ["atlassian.net"] });
    const pair = Buffer.from(`${value("email_address")}:${value("api_token")}`).toString("base64");
    const headers = { accept: "application/json", authorization: `Basic ${pair}` };
    return probeFetch({ method: "GET", url: new URL("/rest/api/3/myself", origin), headers });
  },
};

/** OAuth client credentials: https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
const microsoftEntraId: Probe = {
  connector: "microsoft-entra-id",
  needs: ["entra_tenant_id", "entra_client_id", "entra_client_secret"],
  async call(value, { probeFetch }) {
    const url = new URL("https://graph.microsoft.com/v1.0/users?$top=1&$select=id");
    return callWithToken({ ...entraToken(value), url }, probeFetch);
  },
};

/** @throws CredentialError */
export function entraToken(value: (key: string) => string): TokenRequest {
  const tenant = value("entra_tenant_id");
  if (!/^[a-z0-9.-]+$/i.test(tenant)) {
    throw new CredentialError("entra_tenant_id", "the id or a domain of a tenant is needed");
  }
  const grant = {
    grant_type: "client_credentials",
    client_id: value("entra_client_id"),
    client_secret: value("entra_client_secret"),
    scope: "https://graph.microsoft.com/.default",
  };
  return { tokenUrl: new URL(`https://login.microsoftonline.com/${encodeURIComponent(tenant)}/oauth2/v2.0/token`), grant };
}

const oktaDomains = ["okta.com", "oktapreview.com", "okta-emea.com"];

/** An API token in a header: https://developer.okta.com/docs/reference/core-okta-api/#authentication */
const okta: Probe = {
  connector: "okta",
  needs: ["okta_domain", "api_token"],
  async call(value, { probeFetch }) {
    const { origin, headers } = oktaAccess(value);
    return probeFetch({ method: "GET", url: new URL("/api/v1/users?limit=1", origin), headers });
  },
};

/** @throws CredentialError */
export function oktaAccess(value: (key: string) => string): { origin: URL; headers: Record<string, string> } {
  const origin = vendorOrigin({ field: "okta_domain", text: value("okta_domain"), ends: oktaDomains });
  const headers = { accept: "application/json", authorization: `SSWS ${headerText("api_token", value("api_token"))}` };
  return { origin, headers };
}

export const probes: readonly Probe[] = [datadog, googleWorkspace, jira, microsoftEntraId, okta];

interface Tested {
  /** Its id. */
  connector: string;
  /** The alternative of the form that was filled in. */
  credentialSet: number;
  /** Keys of the fields with a value. */
  fields: readonly string[];
}

/** @param row of the connector; undefined: the catalog does not have it now @returns undefined: there is no test for these fields */
export function probeFor({ connector, credentialSet, fields }: Tested, row: ConnectorRow | undefined): Probe | undefined {
  const declared = row?.credential_sets[credentialSet]?.probe;
  const all = declared === undefined ? probes : [...probes, probeOf(connector, declared)];
  return all.find((probe) => probe.connector === connector && probe.needs.every((key) => fields.includes(key)));
}
