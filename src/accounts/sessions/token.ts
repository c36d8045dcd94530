/** Secrets that are drawn, given out once and stored as digests: values of cookies and of links. */
import { createHash, randomBytes } from "node:crypto";

/** 32 random bytes as 43 characters that need no escaping in URLs and cookies. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

export function hashToken(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

export function isToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}
