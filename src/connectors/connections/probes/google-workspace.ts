import { createPrivateKey, sign, type KeyObject } from "node:crypto";
import { CredentialError, type Probe } from "../probe.ts";
import { callWithToken } from "./token.ts";

/** Ignores the `token_uri` in the file: the assertion is valid only for this one. */
const tokenUrl = "https://oauth2.googleapis.com/token";
const scope = "https://www.googleapis.com/auth/admin.directory.user.readonly";
const assertionSeconds = 300;
const field = "credentials";

/** A signed service account: https://developers.google.com/identity/protocols/oauth2/service-account#httprest */
export const googleWorkspace: Probe = {
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
