/** The operator's token: given by the environment, or made on first start in the data folder for its owner's eyes only. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "./variables.ts";
import { Secret } from "../kernel/secret.ts";
import { operatorTokenCharactersMin } from "./limits.ts";
import { createPrivateFile } from "./create-private-file.ts";

/** @throws ConfigError when the file holds no token that is long enough: an empty one would open the control API to everybody */
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
