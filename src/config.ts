/**
 * Reads the environment into a Config, once at start; only this file does. An error names the variable and the values that it accepts,
 * never a secret. Variables of a subject (servers, mail, Stripe, telemetry) are read in process/environment; here they come together.
 */
import type { LogFormat } from "./kernel/log.ts";
import type { Secret } from "./kernel/secret.ts";
import {
  ConfigError,
  integer,
  matching,
  milliseconds,
  oneOf,
  text,
  type Environment,
  secret,
  secretText,
} from "./process/environment/variables.ts";
import { parseSecretsKeys, refuseGuessable } from "./process/own-secrets.ts";
import {
  readMail,
  type MailConfig,
  readCatalogDir,
  readOidc,
  type OidcConfig,
  readMcpOrigins,
  readTrustedProxies,
  readStripe,
  readAws,
  type AwsAccount,
  type StripeConfig,
} from "./process/environment/services.ts";
import { unreadVariables } from "./process/environment/known-variables.ts";
import type { TrustedProxies } from "./kernel/proxies.ts";
import { readBackends, readDatabaseUrl, readPlainTextHosts, type Backends } from "./process/environment/backends.ts";
import { readTelemetry, type TelemetryConfig } from "./process/telemetry/read-telemetry.ts";
import * as limits from "./process/limits.ts";
import { isLoopback } from "./kernel/addresses.ts";
import { trimmedEnd } from "./kernel/text.ts";

export interface Clocks {
  connectMs: number;
  firstByteMs: number;
  idleMs: number;
  streamMs: number;
  bodyMs: number;
}

/** Where OSV publishes its archives. */
export const osvArchives = "https://osv-vulnerabilities.storage.googleapis.com";

export interface Config {
  port: number;
  host: string;
  /** null: the gateway's own port, workers none. */
  metricsPort: number | null;
  /** The host of `metricsPort`, which needs no token. */
  metricsHost: string;
  dataDir: string;
  backends: Backends;
  /** The proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: TrustedProxies;
  /** Where people reach the service, such as https://weir.example.com; without a slash at its end. */
  publicUrl: string;
  /** The same if PUBLIC_URL is set; null: it is not, and pages show the address under which their reader came. */
  publicOrigin: string | null;
  /** Whether only this machine reaches the service: one process on a loopback address, which no proxy offers to others. */
  isLocal: boolean;
  /** Whether the Console is served. */
  console: boolean;
  /** Signs people in to the Console; null: passwords and links alone do. */
  oidc: OidcConfig | null;
  /** The prefix of operations and keys. */
  slug: string;
  catalogDir: string;
  /** base64 keys of 32 bytes, the first one seals; null: embedded mode creates one. */
  secretsKeys: Secret[] | null;
  /** null: created in the data folder on first start. */
  operatorToken: Secret | null;
  sandbox: boolean;
  /** null: mails wait. */
  mail: MailConfig | null;
  /** Takes cards for credit; null: credit is added by the operator alone. */
  stripe: StripeConfig | null;
  /** Origins whose pages may call `/mcp`, besides those of this machine, in lower case. */
  mcpOrigins: readonly string[];
  /** This service's account at AWS, which roles of customers trust; null: none is set. */
  aws: AwsAccount | null;
  /** Addresses of the APIs that repositories are imported from, each without a trailing slash. */
  hostUrls: { github: string; gitlab: string };
  /** The address below which are `<ecosystem>/all.zip`, and whether the operator named it. */
  advisories: { url: string; isNamed: boolean };
  /** Variables of proxies and certificates, which a process that downloads needs. */
  outbound: Readonly<Record<string, string>>;
  clocks: Clocks;
  /** How long a stopping gateway continues to serve while balancers and clients learn of it. */
  leaveMs: number;
  /** How many SBOMs each project keeps, with its current one. */
  sbomsKept: number;
  logLevel: string;
  logFormat: LogFormat;
  /** Sends traces and metrics; null: none are sent. */
  telemetry: TelemetryConfig | null;
  /** Where the first keys and links that sign in go: to a file in the data folder, on the output, or null for the mode's own choice. */
  firstKeys: "file" | "output" | null;
  /** The service's key for a provider in the environment, by the variable in its `key_env`. */
  environmentKey(name: string): Secret | null;
  /** A warning for each variable that nothing reads although it looks meant for Weir; `keyVariables` are those of providers' keys. */
  unreadVariables(keyVariables: readonly string[]): string[];
}

/** @throws ConfigError with the variable and the values that it accepts */
export function readConfig(environment: Environment = process.env): Config {
  const config = readWorkerConfig(environment);
  if (config.stripe?.webhookSecrets.length === 0) {
    throw new ConfigError(
      "STRIPE_WEBHOOK_SECRET is required when STRIPE_SECRET_KEY is set: the secret of the webhook's endpoint",
    );
  }
  if (config.backends.mode === "embedded" || config.secretsKeys !== null) return config;
  throw new ConfigError(
    "SECRETS_KEY is required when DATABASE_URL, NATS_URL and REDIS_URL are set: one or more base64 keys of 32 bytes",
  );
}

/** The configuration of a worker: only a prober needs SECRETS_KEY, for the providers' keys in the database. */
export function readWorkerConfig(environment: Environment = process.env): Config {
  const backends = readBackends(environment);
  const distributed = backends.mode === "distributed";
  const port = integer(environment, "PORT", 8080, 0, 65_535);
  const host = text(environment, "HOST", "127.0.0.1");
  const publicUrl = readPublicUrl(environment, { host, port });
  const isOwnMachine = !distributed && /^(localhost$|127\.|::1$)/.test(host);
  return {
    port,
    host,
    trustedProxies: readTrustedProxies(environment),
    publicUrl,
    publicOrigin: environment["PUBLIC_URL"] ? publicUrl : null,
    isLocal: isOwnMachine && !environment["TRUSTED_PROXIES"] && isLoopback(new URL(publicUrl).hostname.replaceAll(/[[\]]/g, "")),
    console: oneOf(environment, "CONSOLE", isOwnMachine ? "on" : "off", ["on", "off"]) === "on",
    oidc: readOidc(environment, publicUrl),
    metricsPort: readMetricsPort(environment),
    metricsHost: text(environment, "METRICS_HOST", "127.0.0.1"),
    dataDir: text(environment, "DATA_DIR", "./.weir"),
    backends,
    slug: matching(
      environment,
      "SERVICE_SLUG",
      "platform",
      /^[a-z][a-z0-9-]{0,31}$/,
      "lower-case letters, digits and hyphens, a letter first",
    ),
    catalogDir: readCatalogDir(environment),
    secretsKeys: readSecretsKeys(environment),
    operatorToken: readOperatorToken(environment),
    sandbox: oneOf(environment, "SANDBOX", distributed ? "off" : "on", ["on", "off"]) === "on",
    mail: readMail(environment),
    stripe: readStripe(environment, publicUrl),
    aws: readAws(environment),
    advisories: { url: hostUrl(environment, "ADVISORIES_URL", osvArchives), isNamed: Boolean(environment["ADVISORIES_URL"]) },
    outbound: outboundOf(environment),
    mcpOrigins: readMcpOrigins(environment),
    hostUrls: {
      github: hostUrl(environment, "GITHUB_API_URL", "https://api.github.com"),
      gitlab: withGitlabPath(hostUrl(environment, "GITLAB_API_URL", "https://gitlab.com/api/v4")),
    },
    clocks: {
      connectMs: milliseconds(environment, "CONNECT_TIMEOUT_MS", 5_000),
      firstByteMs: milliseconds(environment, "FIRST_BYTE_TIMEOUT_MS", 600_000),
      idleMs: milliseconds(environment, "IDLE_TIMEOUT_MS", 300_000),
      streamMs: milliseconds(environment, "STREAM_DURATION_MS", limits.streamDurationMsDefault),
      bodyMs: milliseconds(environment, "BODY_TIMEOUT_MS", 30_000),
    },
    leaveMs: integer(environment, "SHUTDOWN_LEAVE_MS", distributed ? limits.shutdownLeaveMsDefault : 0, 0, 600_000),
    sbomsKept: integer(environment, "SBOMS_KEPT", limits.sbomsKeptDefault, 1, limits.sbomsKeptMax),
    logLevel: oneOf(environment, "LOG_LEVEL", "info", ["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
    logFormat: oneOf(environment, "LOG_FORMAT", "auto", ["auto", "text", "json"]),
    telemetry: readTelemetry(environment, readPlainTextHosts(environment)),
    firstKeys: readFirstKeys(environment),
    environmentKey: readProviderKeys(environment),
    unreadVariables: (keyVariables) => unreadVariables(environment, keyVariables),
  };
}

function readFirstKeys(environment: Environment): Config["firstKeys"] {
  if (!environment["FIRST_KEYS"]) return null;
  return oneOf(environment, "FIRST_KEYS", "output", ["file", "output"]) === "file" ? "file" : "output";
}

/** Files are read once. Those with the usual name are read at start, so that a wrong path is refused then and not at a request. */
function readProviderKeys(environment: Environment): Config["environmentKey"] {
  const kept = new Map<string, Secret | null>();
  const environmentKey = (name: string): Secret | null => {
    const key = kept.has(name) ? (kept.get(name) ?? null) : secret(environment, name);
    kept.set(name, key);
    return key;
  };
  for (const name of Object.keys(environment)) if (name.endsWith("_API_KEY_FILE")) environmentKey(name.slice(0, -"_FILE".length));
  return environmentKey;
}

/** null: the gateway's own port, workers none. */
export function readMetricsPort(environment: Environment = process.env): number | null {
  return environment["METRICS_PORT"] ? integer(environment, "METRICS_PORT", 0, 0, 65_535) : null;
}

/** Links in mails begin with it, and not with what a request names as its host. */
function readPublicUrl(environment: Environment, { host, port }: Pick<Config, "host" | "port">): string {
  const value = text(environment, "PUBLIC_URL", `http://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const url = URL.parse(value);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (isOrigin) return url.origin;
  throw new ConfigError(`PUBLIC_URL is "${value}": an address such as https://weir.example.com is needed, without a path`);
}

function outboundOf(environment: Environment): Record<string, string> {
  const known = /^((HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/;
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value !== undefined && known.test(name) ? [[name, value]] : [])),
  );
}

/** Tokens are sent to these addresses, and advisories believed, so http is accepted only for this machine. */
function hostUrl(environment: Environment, name: string, fallback: string): string {
  const value = text(environment, name, fallback);
  const url = URL.parse(value);
  const isHere = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isHere)) {
    if (url.username === "" && url.password === "" && url.search === "" && url.hash === "") return trimmedEnd(value, "/");
  }
  throw new ConfigError(
    `${name} is "${value}": an https address such as ${fallback} is needed, without a user, a query and a fragment`,
  );
}

/** The path of the API in every GitLab: https://docs.gitlab.com/api/rest/ */
function withGitlabPath(url: string): string {
  return new URL(url).pathname === "/" ? `${url}/api/v4` : url;
}

/** The configuration of the command line: the service, its operator token or a tools key, and the catalog files. */
export interface ClientConfig {
  /** Without a trailing slash. */
  url: string;
  /** null: read from the data folder of a service on this machine. */
  token: Secret | null;
  /** For commands that it is enough for; null: it is not set. */
  toolsKey: Secret | null;
  dataDir: string;
  catalogDir: string;
}

/** The configuration of the MCP server over stdio. */
interface McpConfig {
  /** Without a trailing slash. */
  url: string;
  /** A tools key; null: it is missing. */
  key: Secret | null;
}

/** @throws ConfigError with the variable and the values that it accepts */
export function readMcpConfig(environment: Environment = process.env): McpConfig {
  return { url: readServiceAddress(environment), key: secret(environment, "WEIR_TOOLS_KEY") };
}

/** @throws ConfigError with the variable and the values that it accepts */
export function readClientConfig(environment: Environment = process.env): ClientConfig {
  return {
    url: readServiceAddress(environment),
    token: secret(environment, "WEIR_TOKEN"),
    toolsKey: secret(environment, "WEIR_TOOLS_KEY"),
    dataDir: text(environment, "DATA_DIR", "./.weir"),
    catalogDir: text(environment, "CATALOG_DIR", "./catalog-data"),
  };
}

/**
 * The database of a fleet, which the migration command needs.
 * @throws ConfigError if it is missing or not a safe address
 */
export function readMigrationConfig(environment: Environment = process.env): { databaseUrl: Secret } {
  const databaseUrl = readDatabaseUrl(environment);
  if (databaseUrl !== null) return { databaseUrl };
  throw new ConfigError(
    "DATABASE_URL is not set: it names the database of a fleet. One process brings its own database up to date when it starts",
  );
}

/**
 * The folder in which a person typed a path. `npm run` starts scripts in the project's folder and passes the original folder in a
 * variable, which counts only for the script that npm started.
 */
export function folderOfCaller(script: string, environment: Environment = process.env): string {
  const { npm_lifecycle_event: started, INIT_CWD: typedIn } = environment;
  return started === script && typedIn ? typedIn : process.cwd();
}

function readServiceAddress(environment: Environment): string {
  const url = text(environment, "WEIR_URL", `http://127.0.0.1:${integer(environment, "PORT", 8080, 1, 65_535)}`);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ConfigError(`WEIR_URL is "${url}": an address such as http://127.0.0.1:8080 is needed`);
  }
  return trimmedEnd(url, "/");
}

function readSecretsKeys(environment: Environment): Secret[] | null {
  const value = secretText(environment, "SECRETS_KEY");
  if (!value) return null;
  const keys = parseSecretsKeys(value);
  if (keys === null) {
    throw new ConfigError("SECRETS_KEY takes one or more base64 keys of 32 bytes, separated by commas; the first one seals");
  }
  refuseGuessable(keys[0], "SECRETS_KEY");
  return keys;
}

/** @throws ConfigError for a token that could be guessed */
function readOperatorToken(environment: Environment): Secret | null {
  const token = secret(environment, "OPERATOR_TOKEN");
  const { length } = token?.reveal() ?? "";
  if (token === null || length >= limits.operatorTokenCharactersMin) return token;
  throw new ConfigError(
    `OPERATOR_TOKEN has ${length} characters: at least ${limits.operatorTokenCharactersMin} are needed (openssl rand -hex 32)`,
  );
}
