/**
 * Parses the values of environment variables. Errors name the variable and show no secret. Only config.ts reads the environment itself.
 *
 * A secret is in its variable or in a file that `<variable>_FILE` names: orchestrators provide secrets as files, which neither child
 * processes nor the process list expose. Such a file must not be open to every user.
 */
import { readFileSync, statSync } from "node:fs";
import { Secret } from "../../kernel/secret.ts";
import { secretFileBytesMax } from "../limits.ts";

/** Why the configuration cannot be used, with the variable. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

export type Environment = Record<string, string | undefined>;

export function text(environment: Environment, name: string, fallback: string): string {
  return environment[name] || fallback;
}

export function integer(environment: Environment, name: string, fallback: number, min: number, max: number): number {
  const value = environment[name];
  if (!value) return fallback;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max) {
    throw new ConfigError(`${name} is "${value}": a whole number from ${min} to ${max} is needed`);
  }
  return number;
}

export function milliseconds(environment: Environment, name: string, fallback: number): number {
  return integer(environment, name, fallback, 1, 86_400_000);
}

export function matching(environment: Environment, name: string, fallback: string, pattern: RegExp, words: string): string {
  const value = text(environment, name, fallback);
  if (!pattern.test(value)) throw new ConfigError(`${name} is "${value}": it takes ${words}`);
  return value;
}

export function oneOf<T extends string>(environment: Environment, name: string, fallback: NoInfer<T>, values: readonly T[]): T {
  const value = text(environment, name, fallback);
  const known = values.find((one) => one === value);
  if (known === undefined) throw new ConfigError(`${name} is "${value}": it takes ${values.join(", ")}`);
  return known;
}

/** The variables that hold secrets, without those of providers, which the catalog names. */
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
  "AWS_SECRET_ACCESS_KEY",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "WEIR_TOKEN",
  "WEIR_TOOLS_KEY",
] as const;

/** @throws ConfigError for a file that is missing, empty or open to every user */
export function secret(environment: Environment, name: string): Secret | null {
  const value = secretText(environment, name);
  return value === undefined ? null : new Secret(value);
}

/**
 * The text of a secret that is checked before it is wrapped.
 * @returns undefined: neither the variable nor its file is set
 * @throws ConfigError for a file that is missing, empty or open to every user
 */
export function secretText(environment: Environment, name: string): string | undefined {
  const [value, path] = [environment[name], environment[`${name}_FILE`]];
  if (!path) return value || undefined;
  if (value) throw new ConfigError(`${name} and ${name}_FILE are set: set one of them`);
  return readSecretFile(`${name}_FILE`, path);
}

/** Users other than the owner and the group. */
const othersMayUse = 0o007;

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
