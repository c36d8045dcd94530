/** Reads the keys that seal stored values: those of the environment, or one that the first start creates in the data folder. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSecretsKeys, refuseGuessable } from "./parse-secrets-keys.ts";
import { ConfigError } from "./variables.ts";
import type { Secret } from "../kernel/secret.ts";
import { createPrivateFile } from "./create-private-file.ts";

/**
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
