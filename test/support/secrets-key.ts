import { createHash } from "node:crypto";

/** A key of SECRETS_KEY that is the same in each run, and looks drawn. */
export function secretsKeyNamed(name: string): string {
  return createHash("sha256").update(name).digest("base64");
}
