import { createHash } from "node:crypto";

/** A value of SECRETS_KEY that is the same in each run and looks random. */
export function secretsKeyNamed(name: string): string {
  return createHash("sha256").update(name).digest("base64");
}
