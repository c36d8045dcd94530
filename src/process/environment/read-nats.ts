/** Reads the variables of NATS. */
import { Secret } from "../../kernel/secret.ts";
import { natsServers, readNatsAddress } from "../../kernel/addresses/nats-address.ts";
import { addressProblem } from "../../kernel/addresses/server-address.ts";
import { ConfigError, integer, type Environment } from "../variables.ts";
import { secretText } from "./secret-variables.ts";

export interface NatsConfig {
  /** One or more servers of a cluster: kernel/addresses/nats-address.ts. */
  natsUrl: Secret;
  /** On how many of them each settlement is stored. */
  natsReplicas: number;
}

const example = "tls://host:4222";
/** JetStream's own bound. */
const replicasMax = 5;

/**
 * @returns null when NATS_URL is not set
 * @throws ConfigError with the variable and an example, since the value holds a password
 */
export function readNats(environment: Environment, plainTextHosts: string[]): NatsConfig | null {
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

/** As many as survive the loss of one server. @throws ConfigError for an address that cannot be read */
function replicasOf(value: string): number {
  try {
    return readNatsAddress(value).servers.length >= 3 ? 3 : 1;
  } catch (error) {
    throw new ConfigError(`NATS_URL is not usable: ${error instanceof Error ? error.message : String(error)}`);
  }
}
