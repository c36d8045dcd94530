import type { Secret } from "../../kernel/secret.ts";
import { oidcNameCharactersMax } from "../limits.ts";
import { secret } from "./secret-variables.ts";
import { ConfigError, text, type Environment } from "../variables.ts";

/** An OpenID Connect provider that signs people in. */
export interface OidcConfig {
  issuer: URL;
  clientId: string;
  clientSecret: Secret;
  /** The provider's name on the button. */
  name: string;
}

const needed = ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"] as const;

/**
 * @param publicUrl to which the provider sends people back
 * @returns null: none is configured
 * @throws ConfigError with the variable
 */
export function readOidc(environment: Environment, publicUrl: string): OidcConfig | null {
  const name = text(environment, "OIDC_NAME", "single sign-on");
  const clientSecret = secret(environment, "OIDC_CLIENT_SECRET");
  const [issuer, clientId] = [text(environment, "OIDC_ISSUER", ""), text(environment, "OIDC_CLIENT_ID", "")];
  const values = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret };
  const given = needed.filter((variable) => values[variable]);
  if (given.length === 0) return null;
  if (issuer === "" || clientId === "" || clientSecret === null) {
    const missing = needed.filter((variable) => !values[variable]);
    throw new ConfigError(`${given.join(" and ")} set without ${missing.join(" and ")}: set all three, or none`);
  }
  if (!environment["PUBLIC_URL"] || !isTrustworthy(URL.parse(publicUrl))) {
    throw new ConfigError(
      "PUBLIC_URL is required when OIDC_ISSUER is set: the https address to which the provider sends people back, http only on this machine",
    );
  }
  if (Array.from(name).length > oidcNameCharactersMax || /\p{Cc}/u.test(name)) {
    throw new ConfigError(`OIDC_NAME takes at most ${oidcNameCharactersMax} characters in one line`);
  }
  return { issuer: readIssuer(issuer), clientId, clientSecret, name };
}

function readIssuer(value: string): URL {
  const url = URL.parse(value);
  const isPlain = url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (isPlain && isTrustworthy(url)) return url;
  throw new ConfigError(
    `OIDC_ISSUER is "${value}": an https address such as https://accounts.example.com is needed, http only on this machine`,
  );
}

function isTrustworthy(url: URL | null): boolean {
  return (
    url?.protocol === "https:" || (url?.protocol === "http:" && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
  );
}
