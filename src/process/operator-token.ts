/** Reads the operator token of the environment, or of a file in the data folder that the first start creates. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "./variables.ts";
import { Secret } from "../kernel/secret.ts";
import { operatorTokenCharactersMin } from "./limits.ts";
import { createPrivateFile } from "./create-private-file.ts";

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
