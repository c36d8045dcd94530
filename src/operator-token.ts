/** The operator's token: given by the environment, or made on first start in the data folder for its owner's eyes only. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "./kernel/secret.ts";

export function readOperatorToken(given: Secret | null, dataDir: string): Secret {
  if (given !== null) return given;
  const path = join(dataDir, "operator-token");
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, `${randomBytes(32).toString("hex")}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return new Secret(readFileSync(path, "utf8").trim());
}
