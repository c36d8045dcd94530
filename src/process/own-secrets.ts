/**
 * The secrets that a first start generates in the data folder if the environment has none: the keys that seal stored values, and the
 * operator token. Each is in a file that only its owner can read, and that appears complete. A guessable key is refused as the first key,
 * but may follow it, to open what it sealed before.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, linkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../kernel/error-code.ts";
import { Secret } from "../kernel/secret.ts";
import { ConfigError } from "./environment/variables.ts";
import { operatorTokenCharactersMin } from "./limits.ts";

/**
 * The keys that seal stored values.
 * @returns the given keys, then those of the file, so that values sealed before still open
 * @throws ConfigError if the file holds no keys
 */
export function readSecretsKeys(given: Secret[] | null, dataDir: string): Secret[] {
  const path = join(dataDir, "secrets-key");
  if (given !== null && !existsSync(path)) return given;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  createPrivateFile(path, `${randomBytes(32).toString("base64")}\n`);
  const kept = parseSecretsKeys(readFileSync(path, "utf8"));
  if (kept !== null) {
    if (given === null) refuseGuessable(kept[0], `the file "${path}"`);
    return [...(given ?? []), ...kept];
  }
  throw new ConfigError(`The file "${path}" holds no keys: restore it, because only it opens the stored prompts`);
}

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

/** @throws ConfigError if the token in the file is too short: an empty one would open the control API to everyone */
export function readOperatorToken(given: Secret | null, dataDir: string): Secret {
  if (given !== null) return given;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, "operator-token");
  createPrivateFile(path, `${randomBytes(32).toString("hex")}\n`);
  const token = readFileSync(path, "utf8").trim();
  if (token.length >= operatorTokenCharactersMin) return new Secret(token);
  throw new ConfigError(
    `The file "${path}" holds no operator token of at least ${operatorTokenCharactersMin} characters: remove it to have one made, or set OPERATOR_TOKEN`,
  );
}

/**
 * Creates a file that only its owner can read, unless it exists. The text is first written to another file, so that readers see a complete
 * file even if several processes create it at once.
 */
function createPrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Only one in 10^28 random keys of 32 bytes has fewer distinct values. */
const differentBytesMin = 8;

/** Whether a key was typed rather than generated: all zeros, few repeated bytes, or bytes in steps such as 0, 1, 2, 3. */
function isGuessableKey(bytes: Uint8Array): boolean {
  const step = (index: number) => ((bytes[index] ?? 0) - (bytes[index - 1] ?? 0)) & 0xff;
  const inSteps = bytes.every((_, index) => index < 2 || step(index) === step(1));
  return inSteps || new Set(bytes).size < differentBytesMin;
}
