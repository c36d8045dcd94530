/** Reads the variables of card top-up. */
import { Secret } from "../../kernel/secret.ts";
import { secret, secretText } from "./secret-variables.ts";
import { ConfigError, type Environment } from "../variables.ts";

export interface StripeConfig {
  secretKey: Secret;
  /** One, or two while they are exchanged; empty: this process takes no events. */
  webhookSecrets: readonly Secret[];
  /** Another address in place of Stripe's, on this machine; null: none. */
  apiUrl: { host: string; port: string } | null;
  /** Whether the key is one of the mode in which payments move money. */
  isLive: boolean;
}

/**
 * @param publicUrl to which Stripe's page leads back
 * @returns null: cards are not taken
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

function readWebhookSecrets(environment: Environment): Secret[] {
  const all = (secretText(environment, "STRIPE_WEBHOOK_SECRET") ?? "").split(",").map((one) => one.trim());
  const given = all.filter((one) => one !== "");
  if (given.length <= 2 && given.every((one) => /^whsec_\S+$/.test(one))) return given.map((one) => new Secret(one));
  throw new ConfigError(
    "STRIPE_WEBHOOK_SECRET takes one secret such as whsec_…, or two separated by a comma while they are exchanged",
  );
}

/** Keys of Stripe go to Stripe alone, or to a stand-in on this machine. */
function readApiUrl(environment: Environment): StripeConfig["apiUrl"] {
  const value = environment["STRIPE_API_URL"];
  if (!value) return null;
  const url = URL.parse(value);
  const isHere = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (isHere && url.protocol === "http:" && `${url.origin}/` === url.href) return { host: url.hostname, port: url.port || "80" };
  throw new ConfigError(`STRIPE_API_URL is "${value}": an address of this machine such as http://127.0.0.1:12111 is needed`);
}
