import { isGuessableKey } from "../kernel/guessable-key.ts";
import { Secret } from "../kernel/secret.ts";
import { ConfigError } from "./variables.ts";

/** @param value base64 keys of 32 bytes, separated by commas or spaces @returns null if it is anything else */
export function parseSecretsKeys(value: string): Secret[] | null {
  const keys = value.split(/[\s,]+/).filter((key) => key !== "");
  // Node decodes what it can and skips the rest, so the alphabet is checked as well.
  const valid = (key: string) => /^[A-Za-z0-9+/_-]{43}=?$/.test(key) && Buffer.from(key, "base64").length === 32;
  return keys.length > 0 && keys.every(valid) ? keys.map((key) => new Secret(key)) : null;
}

/**
 * The first key seals. A guessable one may follow it, to open what it sealed before.
 * @throws ConfigError
 */
export function refuseGuessable(first: Secret | undefined, name: string): void {
  if (first === undefined || !isGuessableKey(Buffer.from(first.reveal(), "base64"))) return;
  throw new ConfigError(
    `The first key of ${name} can be guessed: put one of 32 random bytes before it (openssl rand -base64 32)`,
  );
}
