/** SQL expressions that draw the facts of row `n`: the same row gets the same facts in every run. */

/** A number from 0 to below 1 of the row `n`, which the salt determines. */
export const rowChance = (salt: number) => `((hashint8extended(n, ${salt}) & 1048575) / 1048576.0::float8)`;

/** The nine digits at the beginning of an id that was made at `at_ms`, in milliseconds since 1970. */
export const idDigits = Array.from(
  { length: 9 },
  (_, n) => `substr('234567abcdefghijklmnopqrstuvwxyz', ((at_ms >> ${5 * (8 - n)}) & 31)::integer + 1, 1)`,
).join(" || ");
