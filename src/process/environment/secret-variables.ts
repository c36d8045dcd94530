/**
 * Secrets of the environment. Each comes in its variable or in a file that `<variable>_FILE` names: orchestrators hand secrets over as
 * files, which neither child processes nor the list of processes show.
 */
import { readFileSync, statSync } from "node:fs";
import { Secret } from "../../kernel/secret.ts";
import { secretFileBytesMax } from "../limits.ts";
import { ConfigError, type Environment } from "../variables.ts";

/** The variables that hold secrets. Those of providers come on top: the catalog names them. */
export const secretVariables = [
  "SECRETS_KEY",
  "OPERATOR_TOKEN",
  "DATABASE_URL",
  "DATABASE_READ_URL",
  "NATS_URL",
  "REDIS_URL",
  "SMTP_URL",
  "STRIPE_SECRET_KEY",
  "STRIPE_WEBHOOK_SECRET",
  "OIDC_CLIENT_SECRET",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "WEIR_TOKEN",
  "WEIR_TOOLS_KEY",
] as const;

/** Users other than the owner and the group. */
const othersMayUse = 0o007;

/** @throws ConfigError for a file that is missing, empty or open to every user */
export function secret(environment: Environment, name: string): Secret | null {
  const value = secretText(environment, name);
  return value === undefined ? null : new Secret(value);
}

/**
 * For secrets that are checked before they are wrapped.
 * @returns undefined: neither the variable nor its file is set
 * @throws ConfigError for a file that is missing, empty or open to every user
 */
export function secretText(environment: Environment, name: string): string | undefined {
  const [value, path] = [environment[name], environment[`${name}_FILE`]];
  if (!path) return value || undefined;
  if (value) throw new ConfigError(`${name} and ${name}_FILE are set: set one of them`);
  return readSecretFile(`${name}_FILE`, path);
}

function readSecretFile(name: string, path: string): string {
  const { size, mode } = attempt(name, path, () => statSync(path));
  // Windows has no such bits.
  if (process.platform !== "win32" && (mode & othersMayUse) !== 0) {
    const bits = (mode & 0o777).toString(8).padStart(3, "0");
    throw new ConfigError(`${name} names "${path}", which every user may access (mode ${bits}): chmod o= "${path}"`);
  }
  if (size > secretFileBytesMax)
    throw new ConfigError(`${name} names "${path}", which is larger than ${secretFileBytesMax} bytes`);
  const text = attempt(name, path, () => readFileSync(path, "utf8")).trim();
  if (text !== "") return text;
  throw new ConfigError(`${name} names "${path}", which is empty`);
}

function attempt<T>(name: string, path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new ConfigError(`${name} names "${path}", which cannot be read: ${code}`, { cause: error });
  }
}
