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
import {
  CredentialError,
  headerText,
  optionalValue,
  type Probe,
  callWithToken,
  vendorOrigin,
  type TokenRequest,
} from "./probe.ts";

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
  const claims = {
    iss: email,
    sub: value("administrator_email"),
    scope: googleScope,
    aud: googleTokenUrl,
    ...validFrom(nowIn(clock)),
  };
  const grant = {
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: signed({ keyId, claims, key }),
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

interface Signing {
  claims: object;
  /** RSA, or the elliptic curve P-256. */
  key: KeyObject;
  /** null: the vendor tries the keys that it has. */
  keyId: string | null;
}

/** A JSON Web Token (RFC 7519) with RS256 or ES256. */
function signed({ claims, key, keyId }: Signing): string {
  const alg = key.asymmetricKeyType === "rsa" ? "RS256" : "ES256";
  const header = { alg, typ: "JWT", ...(keyId !== null && { kid: keyId }) };
  const encoded = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${encoded}.${sign("sha256", Buffer.from(encoded), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

function nowIn(clock: Clock): number {
  return Math.floor(clock.now() / 1_000);
}

const assertionSeconds = 300;

function validFrom(seconds: number): { iat: number; exp: number } {
  return { iat: seconds, exp: seconds + assertionSeconds };
}

/** @param text a key as PEM, or as a JSON Web Key (RFC 7517), which may have its id @throws CredentialError */
function privateKeyIn(field: string, text: string): { key: KeyObject; keyId: string | null } {
  try {
    const jwk = text.trimStart().startsWith("{") ? { ...JSON.parse(text) } : null;
    const key = createPrivateKey(jwk === null ? text : { key: jwk, format: "jwk" });
    const isP256 = key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1";
    const keyId: unknown = jwk?.["kid"];
    if (key.asymmetricKeyType === "rsa" || isP256) return { key, keyId: typeof keyId === "string" ? keyId : null };
  } catch {
    // The sentence below says what is needed, and nothing of the key.
  }
  throw new CredentialError(field, "a private key is needed, RSA or P-256, as PEM or as a JSON Web Key");
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
  const headers = { accept: "application/json", authorization: `SSWS ${headerText("api_token", value("api_token"))}` };
  return { origin: oktaOrigin(value), headers };
}

/** @throws CredentialError */
export function oktaOrigin(value: (key: string) => string): URL {
  return vendorOrigin({ field: "okta_domain", text: value("okta_domain"), ends: oktaDomains });
}

/** A service app with a private key: https://developer.okta.com/docs/guides/implement-oauth-for-okta-serviceapp/main/ */
const oktaApp: Probe = {
  connector: "okta",
  needs: ["okta_domain", "client_id", "private_key"],
  async call(value, { probeFetch, clock }) {
    return callWithToken({ ...oktaToken(value, clock), url: new URL("/api/v1/users?limit=1", oktaOrigin(value)) }, probeFetch);
  },
};

/** Asks for a token that reads users. @throws CredentialError */
export function oktaToken(value: (key: string) => string, clock: Clock): TokenRequest {
  const tokenUrl = new URL("/oauth2/v1/token", oktaOrigin(value));
  const { key, keyId } = privateKeyIn("private_key", value("private_key"));
  const id = value("client_id");
  const claims = { iss: id, sub: id, aud: tokenUrl.href, ...validFrom(nowIn(clock)) };
  const grant = {
    grant_type: "client_credentials",
    scope: "okta.users.read",
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: signed({ claims, key, keyId: optionalValue(value, "private_key_id") ?? keyId }),
  };
  return { tokenUrl, grant };
}

/** An app that is installed in the organization: https://docs.github.com/en/rest/apps/apps */
const gitHubApp: Probe = {
  connector: "github",
  needs: ["github_app_id", "github_app_private_key", "organization"],
  lacksGrant: [404],
  async call(value, { probeFetch, clock }) {
    const url = gitHubInstallation(gitHubOrganizations("organization", value("organization"), 1)[0] ?? "");
    return probeFetch({ method: "GET", url, headers: gitHubAppHeaders(value, clock) });
  },
};

export const gitHub = "https://api.github.com";

export function gitHubInstallation(organization: string): URL {
  return new URL(`${gitHub}/orgs/${organization}/installation`);
}

/**
 * As the app itself, which is valid for minutes; the minute before allows for another clock.
 * Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
 * @throws CredentialError
 */
export function gitHubAppHeaders(value: (key: string) => string, clock: Clock): Record<string, string> {
  const { key } = privateKeyIn("github_app_private_key", value("github_app_private_key"));
  if (key.asymmetricKeyType !== "rsa") throw new CredentialError("github_app_private_key", "an RSA key is needed");
  const claims = { iss: value("github_app_id"), ...validFrom(nowIn(clock) - 60) };
  return gitHubHeaders(signed({ claims, key, keyId: null }));
}

export function gitHubHeaders(token: string): Record<string, string> {
  return {
    accept: "application/vnd.github+json",
    authorization: `Bearer ${token}`,
    "x-github-api-version": "2022-11-28",
  };
}

/** @throws CredentialError for what is no name, and for too many */
export function gitHubOrganizations(field: string, text: string, max: number): string[] {
  const names = [...new Set(text.split(/[\s,;]+/).filter((name) => name !== ""))];
  const areNames = names.every((name) => /^[a-z0-9][a-z0-9-]{0,38}$/i.test(name));
  if (areNames && names.length > 0 && names.length <= max) return names;
  const needed = max === 1 ? "the name of an organization is" : `names of 1 to ${max} organizations are`;
  throw new CredentialError(field, `${needed} needed${max === 1 ? "" : ", separated by commas"}`);
}

export const probes: readonly Probe[] = [datadog, gitHubApp, googleWorkspace, jira, microsoftEntraId, okta, oktaApp];

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
