/** Reads the addresses of the servers of a fleet. */
import { addressesIn, addressProblem } from "../../kernel/addresses/server-address.ts";
import { Secret } from "../../kernel/secret.ts";
import { readNats, type NatsConfig } from "./read-nats.ts";
import { secretText } from "./secret-variables.ts";
import { ConfigError, text, type Environment } from "../variables.ts";

export type Backends = { mode: "embedded" } | (DistributedBackends & NatsConfig);

interface DistributedBackends {
  mode: "distributed";
  databaseUrl: Secret;
  /** A replica for reads that may be some seconds old; null: there is none. */
  databaseReadUrl: Secret | null;
  redisUrl: Secret;
}

const serviceUrls = {
  DATABASE_URL: { scheme: /^postgres(ql)?:\/\/\S+$/, example: "postgres://user:password@host:5432/weir?sslmode=verify-full" },
  DATABASE_READ_URL: {
    scheme: /^postgres(ql)?:\/\/[^\s,]+$/,
    example: "postgres://user:password@replica:5432/weir?sslmode=verify-full",
  },
  REDIS_URL: { scheme: /^rediss?:\/\/\S+$/, example: "rediss://host:6379" },
};

/** @throws ConfigError for some of the three addresses, and for one that is not safe */
export function readBackends(environment: Environment): Backends {
  const plainTextHosts = readPlainTextHosts(environment);
  const databaseUrl = serviceUrl(environment, "DATABASE_URL", plainTextHosts);
  const nats = readNats(environment, plainTextHosts);
  const redisUrl = serviceUrl(environment, "REDIS_URL", plainTextHosts);
  const databaseReadUrl = serviceUrl(environment, "DATABASE_READ_URL", plainTextHosts);
  if (databaseUrl && nats && redisUrl) return { mode: "distributed", databaseUrl, databaseReadUrl, redisUrl, ...nats };
  const urls = { DATABASE_URL: databaseUrl, NATS_URL: nats, REDIS_URL: redisUrl };
  const given = Object.entries(urls).flatMap(([name, url]) => (url === null ? [] : [name]));
  if (given.length === 0 && databaseReadUrl) throw new ConfigError("DATABASE_READ_URL is set without DATABASE_URL");
  if (given.length === 0) return { mode: "embedded" };
  const missing = Object.keys(urls).filter((name) => !given.includes(name));
  throw new ConfigError(
    `${given.join(" and ")} set without ${missing.join(" and ")}: set all three for a fleet or none for one process, ` +
      "for counters in one process beside a shared ledger would let two gateways spend the same credit",
  );
}

/** One address, or those of several nodes of a Redis Cluster. The value holds a password, so the error shows an example instead. */
function serviceUrl(environment: Environment, name: keyof typeof serviceUrls, plainTextHosts: string[]): Secret | null {
  const value = secretText(environment, name);
  if (value === undefined) return null;
  const { scheme, example } = serviceUrls[name];
  for (const address of name === "REDIS_URL" ? addressesIn(value) : [value]) {
    if (!scheme.test(address)) throw new ConfigError(`${name} is not an address such as ${example}`);
    const problem = addressProblem(address, { example, plainTextHosts });
    if (problem !== null) throw new ConfigError(`${name} ${problem}`);
  }
  return new Secret(value);
}

/**
 * For a command that needs the database alone.
 * @throws ConfigError
 */
export function readDatabaseUrl(environment: Environment): Secret | null {
  return serviceUrl(environment, "DATABASE_URL", readPlainTextHosts(environment));
}

/** Hosts that may be reached without TLS. */
export function readPlainTextHosts(environment: Environment): string[] {
  return text(environment, "PLAINTEXT_HOSTS", "").split(/[\s,]+/);
}
