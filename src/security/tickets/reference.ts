import { randomInt } from "node:crypto";
import type { TicketType } from "./schema.ts";

const words: Record<TicketType, string> = { feedback: "FB", bug: "BUG", support: "SUP" };

/** Crockford's base 32 has no characters that are confused when read aloud (https://www.crockford.com/base32.html). */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const digits = 8;

/** Such as `BUG-7K2M9QXD`. It is random, so that it does not show the number of tickets. */
export function newReference(type: TicketType): string {
  const text = Array.from({ length: digits }, () => alphabet[randomInt(alphabet.length)]).join("");
  return `${words[type]}-${text}`;
}
