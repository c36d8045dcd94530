/** Password hashes by the runtime. */

/** OWASP's second choice for argon2id, in KiB and passes: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html */
const cost = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

export function hashWithArgon2(password: string): Promise<string> {
  return Bun.password.hash(password, cost);
}

export function verifyWithArgon2(password: string, hash: string): Promise<boolean> {
  return Bun.password.verify(password, hash);
}
