/** Arrays in PostgreSQL's text form, for statements over many rows: half the cost of the library for each element. */

/** Has SQLSTATE 22021, as if the database had refused the text: encoded as UTF-8 it would be stored as another text. */
class HalfCharacterError extends Error {
  readonly code = "22021";
}

const special = /["\\]/;

/**
 * One column of many rows, as text to be cast to an array.
 * @throws Error with SQLSTATE 22021 when a text has half of a surrogate pair
 */
export function arrayText<T>(rows: readonly T[], read: (row: T) => string | number | bigint | boolean | null): string {
  let text = "";
  for (const row of rows) text += `,${elementText(read(row))}`;
  return `{${text.slice(1)}}`;
}

/** One element of such an array. Unquoted, null is NULL. */
export function elementText(value: string | number | bigint | boolean | null): string {
  if (typeof value !== "string") return String(value);
  if (!value.isWellFormed()) throw new HalfCharacterError("A text has half of a surrogate pair");
  return special.test(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${value}"`;
}
