/**
 * Reads the variables of outside services: mail, OpenID Connect, Stripe, trusted proxies, and the folder of the catalog. A half-configured
 * service is an error that names the missing variable. A service that is not configured is null, and what needs it is off. Stripe's keys
 * are sent only to Stripe, or to a stand-in on this machine.
 */
import { statSync } from "node:fs";
import { TrustedProxies } from "../../kernel/proxies.ts";
import { Secret } from "../../kernel/secret.ts";
import { oidcNameCharactersMax } from "../limits.ts";
import { ConfigError, type Environment, secretText, secret, text } from "./variables.ts";

export interface MailConfig {
  /** It may hold a password. */
  smtpUrl: Secret;
  from: { name: string; address: string };
}

/** Reads how mails are sent. @returns null: mails wait @throws ConfigError */
export function readMail(environment: Environment): MailConfig | null {
  const url = secretText(environment, "SMTP_URL");
  const sender = environment["MAIL_FROM"];
  const from = sender ? readSender(sender) : null;
  if (!url) return null;
  if (!/^smtps?:\/\/\S+$/.test(url) || !URL.canParse(url)) {
    throw new ConfigError("SMTP_URL is not an address such as smtp://user:password@host:587 or smtps://user:password@host:465");
  }
  if (from === null) throw new ConfigError("MAIL_FROM is required when SMTP_URL is set: the address that mails come from");
  return { smtpUrl: new Secret(url), from };
}

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

/** This service's account at AWS, which roles of customers trust. */
export interface AwsAccount {
  /** Twelve digits. */
  id: string;
  /** Assume such roles in tests; null: they cannot be tested here. */
  credentials: { keyId: string; secretKey: Secret } | null;
}

/** @returns null: it has none @throws ConfigError */
export function readAws(environment: Environment): AwsAccount | null {
  const id = text(environment, "AWS_ACCOUNT_ID", "");
  const keyId = text(environment, "AWS_ACCESS_KEY_ID", "");
  const secretKey = secret(environment, "AWS_SECRET_ACCESS_KEY");
  // Without an account, keys that other programs use may be in the environment.
  if (id === "") return null;
  if (!/^\d{12}$/.test(id)) throw new ConfigError(`AWS_ACCOUNT_ID is "${id}": the twelve digits of an account are needed`);
  if (keyId === "" && secretKey === null) return { id, credentials: null };
  if (!/^[A-Z0-9]{16,128}$/.test(keyId) || secretKey === null)
    throw new ConfigError(
      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are needed together: the id of an access key, and its secret",
    );
  return { id, credentials: { keyId, secretKey } };
}

export interface StripeConfig {
  secretKey: Secret;
  /** One, or two during a change; empty: this process accepts no events. */
  webhookSecrets: readonly Secret[];
  /** An address on this machine that replaces Stripe's; null: none. */
  apiUrl: { host: string; port: string } | null;
  /** Whether the key is a live one, whose payments move money. */
  isLive: boolean;
}

/**
 * Reads the variables of card top-up.
 * @param publicUrl to which Stripe's page leads back
 * @returns null: cards are not accepted
 * @throws ConfigError
 */
export function readStripe(environment: Environment, publicUrl: string): StripeConfig | null {
  const secretKey = secret(environment, "STRIPE_SECRET_KEY");
  const webhookSecrets = readWebhookSecrets(environment);
  const apiUrl = readApiUrl(environment);
  if (secretKey === null) {
    if (webhookSecrets.length === 0) return null;
    throw new ConfigError("STRIPE_SECRET_KEY is required when STRIPE_WEBHOOK_SECRET is set");
  }
  const mode = /^[sr]k_(live|test)_\w+$/.exec(secretKey.reveal())?.[1];
  if (mode === undefined) throw new ConfigError("STRIPE_SECRET_KEY is not a key such as sk_live_…, sk_test_… or rk_live_…");
  if (mode === "live" && !publicUrl.startsWith("https://")) {
    throw new ConfigError(
      "PUBLIC_URL is required when STRIPE_SECRET_KEY is a live key: the https address to which Stripe's page leads back",
    );
  }
  return { secretKey, webhookSecrets, apiUrl, isLive: mode === "live" };
}

/** @throws ConfigError naming the text that is not an address */
export function readTrustedProxies(environment: Environment): TrustedProxies {
  const names = text(environment, "TRUSTED_PROXIES", "")
    .split(",")
    .map((name) => name.trim());
  try {
    return new TrustedProxies(names.length === 1 && names[0] === "" ? [] : names);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const needed = "addresses such as 10.0.0.5 and networks such as 10.0.0.0/8 are needed, separated by commas";
    throw new ConfigError(`TRUSTED_PROXIES: ${error.message}: ${needed}`);
  }
}

/** @throws ConfigError naming the text that is not an origin */
export function readMcpOrigins(environment: Environment): string[] {
  const names = text(environment, "MCP_ORIGINS", "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  // A browser writes the origins of its extensions and editors with schemes of their own.
  const wrong = names.find((name) => !/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/.test(name));
  if (wrong === undefined) return names;
  throw new ConfigError(
    `MCP_ORIGINS: "${wrong}" is no origin: such as https://inspector.example.com is needed, with commas between`,
  );
}

const fallback = "./catalog-data";

/** @throws ConfigError when CATALOG_DIR is set and is not a folder: a service without a catalog refuses every request */
export function readCatalogDir(environment: Environment): string {
  const folder = text(environment, "CATALOG_DIR", fallback);
  const isGiven = folder !== fallback;
  if (!isGiven || statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new ConfigError(`CATALOG_DIR is "${folder}", where there is no folder: one like catalog-data is needed`);
}

/** `weir@example.com` or `Weir <weir@example.com>`. */
function readSender(text: string): MailConfig["from"] {
  const [, name = "", bracketed, bare] = /^(?:([^<>"\p{Cc}]*)<([^<>]+)>|(\S+))$/u.exec(text.trim()) ?? [];
  const address = bracketed ?? bare ?? "";
  if (/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(address)) return { name: name.trim(), address };
  throw new ConfigError(`MAIL_FROM is "${text}": an address such as weir@example.com or Weir <weir@example.com> is needed`);
}

function isTrustworthy(url: URL | null): boolean {
  return (
    url?.protocol === "https:" || (url?.protocol === "http:" && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
  );
}

function readIssuer(value: string): URL {
  const url = URL.parse(value);
  const isPlain = url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (isPlain && isTrustworthy(url)) return url;
  throw new ConfigError(
    `OIDC_ISSUER is "${value}": an https address such as https://accounts.example.com is needed, http only on this machine`,
  );
}

function readWebhookSecrets(environment: Environment): Secret[] {
  const all = (secretText(environment, "STRIPE_WEBHOOK_SECRET") ?? "").split(",").map((one) => one.trim());
  const given = all.filter((one) => one !== "");
  if (given.length <= 2 && given.every((one) => /^whsec_\S+$/.test(one))) return given.map((one) => new Secret(one));
  throw new ConfigError(
    "STRIPE_WEBHOOK_SECRET takes one secret such as whsec_…, or two separated by a comma while they are exchanged",
  );
}

/** null: Stripe's own address. */
function readApiUrl(environment: Environment): StripeConfig["apiUrl"] {
  const value = environment["STRIPE_API_URL"];
  if (!value) return null;
  const url = URL.parse(value);
  const isHere = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (isHere && url.protocol === "http:" && `${url.origin}/` === url.href) return { host: url.hostname, port: url.port || "80" };
  throw new ConfigError(`STRIPE_API_URL is "${value}": an address of this machine such as http://127.0.0.1:12111 is needed`);
}
