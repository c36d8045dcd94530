import { randomInt } from "node:crypto";
import type { TicketType } from "./schema.ts";

const words: Record<TicketType, string> = { feedback: "FB", bug: "BUG", support: "SUP" };

/** Crockford's base 32: nothing in it is taken for something else when it is read out (https://www.crockford.com/base32.html). */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const digits = 8;

/** Such as `BUG-7K2M9QXD`: by chance, so that it does not tell how many there are. */
export function newReference(type: TicketType): string {
  const text = Array.from({ length: digits }, () => alphabet[randomInt(alphabet.length)]).join("");
  return `${words[type]}-${text}`;
}
