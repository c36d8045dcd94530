/**
 * The probes of single vendors, each with the source of its call. A new one is above and in the list at the end. A connector's
 * alternative without a probe has no test.
 */
import { createPrivateKey, sign, type KeyObject } from "node:crypto";
import { CredentialError, headerText, type Probe, callWithToken, vendorOrigin } from "./probe.ts";

/** https://docs.datadoghq.com/getting_started/site/ */
const sites = [
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
    if (!sites.includes(site)) throw new CredentialError("datadog_site", `one of ${sites.join(", ")} is needed`);
    const headers = {
      accept: "application/json",
      "dd-api-key": headerText("api_key", value("api_key")),
      "dd-application-key": headerText("application_key", value("application_key")),
    };
    return probeFetch({ method: "GET", url: new URL(`https://api.${site}/api/v2/users?page[size]=1`), headers });
  },
};

/** Ignores the `token_uri` in the file: the assertion is valid only for this one. */
const tokenUrl = "https://oauth2.googleapis.com/token";
const scope = "https://www.googleapis.com/auth/admin.directory.user.readonly";
const assertionSeconds = 300;
const field = "credentials";

/** A signed service account: https://developers.google.com/identity/protocols/oauth2/service-account#httprest */
const googleWorkspace: Probe = {
  connector: "google-workspace",
  needs: ["customer_id", "administrator_email", field],
  async call(value, { probeFetch, clock }) {
    const { email, keyId, key } = readAccount(value(field));
    const now = Math.floor(clock.now() / 1_000);
    const claims = {
      iss: email,
      sub: value("administrator_email"),
      scope,
      aud: tokenUrl,
      iat: now,
      exp: now + assertionSeconds,
    };
    const grant = {
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: signed({ header: { alg: "RS256", typ: "JWT", ...(keyId !== null && { kid: keyId }) }, claims, key }),
    };
    const url = new URL("https://admin.googleapis.com/admin/directory/v1/users?maxResults=1");
    url.searchParams.set("customer", value("customer_id"));
    return callWithToken({ tokenUrl: new URL(tokenUrl), grant, url }, probeFetch);
  },
};

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
    throw new CredentialError(field, "the JSON file of a service account's key is needed");
  }
  const { client_email: email, private_key_id: keyId } = account;
  if (key.asymmetricKeyType !== "rsa" || typeof email !== "string") {
    throw new CredentialError(field, "a service account's e-mail address and RSA key are needed");
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
    const tokenUrl = new URL(`https://login.microsoftonline.com/${encodeURIComponent(tenant)}/oauth2/v2.0/token`);
    const url = new URL("https://graph.microsoft.com/v1.0/users?$top=1&$select=id");
    return callWithToken({ tokenUrl, grant, url }, probeFetch);
  },
};

const ends = ["okta.com", "oktapreview.com", "okta-emea.com"];

/** An API token in a header: https://developer.okta.com/docs/reference/core-okta-api/#authentication */
const okta: Probe = {
  connector: "okta",
  needs: ["okta_domain", "api_token"],
  async call(value, { probeFetch }) {
    const origin = vendorOrigin({ field: "okta_domain", text: value("okta_domain"), ends });
    const headers = { accept: "application/json", authorization: `SSWS ${headerText("api_token", value("api_token"))}` };
    return probeFetch({ method: "GET", url: new URL("/api/v1/users?limit=1", origin), headers });
  },
};

/** All probes. */
export const probes: readonly Probe[] = [datadog, googleWorkspace, jira, microsoftEntraId, okta];

/** @returns the probe for a connector's alternative with these fields; undefined: there is none */
export function probeFor({ connector, fields }: { connector: string; fields: readonly string[] }): Probe | undefined {
  return probes.find((probe) => probe.connector === connector && probe.needs.every((key) => fields.includes(key)));
}
