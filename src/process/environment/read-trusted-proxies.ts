import { TrustedProxies } from "../../kernel/addresses/trusted-proxies.ts";
import { ConfigError, text, type Environment } from "../variables.ts";

/** @throws ConfigError naming what is no address */
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
