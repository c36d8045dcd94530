/**
 * Reads the addresses of the servers of a fleet: PostgreSQL, Redis and NATS, all three or none. Each must be encrypted unless its host
 * is named in the list of plain-text hosts. A value may hold a password, so an error shows the variable and an example instead.
 */
import { addressesIn, addressProblem, natsServers, readNatsAddress } from "../../kernel/addresses.ts";
import { Secret } from "../../kernel/secret.ts";
import { secretText, ConfigError, text, type Environment, integer } from "./variables.ts";

export type Backends = { mode: "embedded" } | (DistributedBackends & NatsConfig);

interface DistributedBackends {
  mode: "distributed";
  databaseUrl: Secret;
  /** A replica for reads that may be a few seconds old; null: there is none. */
  databaseReadUrl: Secret | null;
  redisUrl: Secret;
}

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
      "because counters in one process with a shared ledger would let two gateways spend the same credit",
  );
}

/** The database for a command that needs nothing else. @throws ConfigError */
export function readDatabaseUrl(environment: Environment): Secret | null {
  return serviceUrl(environment, "DATABASE_URL", readPlainTextHosts(environment));
}

/** Hosts that may be reached without TLS. */
export function readPlainTextHosts(environment: Environment): string[] {
  return text(environment, "PLAINTEXT_HOSTS", "").split(/[\s,]+/);
}

interface NatsConfig {
  /** One or more servers of a cluster: kernel/addresses.ts. */
  natsUrl: Secret;
  /** How many of them store each settlement. */
  natsReplicas: number;
}

const serviceUrls = {
  DATABASE_URL: { scheme: /^postgres(ql)?:\/\/\S+$/, example: "postgres://user:password@host:5432/weir?sslmode=verify-full" },
  DATABASE_READ_URL: {
    scheme: /^postgres(ql)?:\/\/[^\s,]+$/,
    example: "postgres://user:password@replica:5432/weir?sslmode=verify-full",
  },
  REDIS_URL: { scheme: /^rediss?:\/\/\S+$/, example: "rediss://host:6379" },
};

const example = "tls://host:4222";

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

/** JetStream's own bound. */
const replicasMax = 5;

/**
 * @returns null when NATS_URL is not set
 * @throws ConfigError with the variable and an example, since the value holds a password
 */
function readNats(environment: Environment, plainTextHosts: string[]): NatsConfig | null {
  const value = secretText(environment, "NATS_URL");
  const replicas = integer(environment, "NATS_REPLICAS", 0, 1, replicasMax);
  if (value === undefined) return null;
  for (const server of natsServers(value)) {
    if (!/^(nats|tls):\/\/\S+$/.test(server)) {
      throw new ConfigError(`NATS_URL is not an address such as ${example}, or several separated by commas`);
    }
    const problem = addressProblem(server, { example, plainTextHosts });
    if (problem !== null) throw new ConfigError(`NATS_URL ${problem}`);
  }
  const survivingOne = replicasOf(value);
  return { natsUrl: new Secret(value), natsReplicas: replicas || survivingOne };
}

/** Enough replicas to survive the loss of one server. @throws ConfigError for an address that cannot be read */
function replicasOf(value: string): number {
  try {
    return readNatsAddress(value).servers.length >= 3 ? 3 : 1;
  } catch (error) {
    throw new ConfigError(`NATS_URL is not usable: ${error instanceof Error ? error.message : String(error)}`);
  }
}
