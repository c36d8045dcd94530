/**
 * Values in PostgreSQL's text form, for statements over many rows: an array or an array of records is one parameter instead of one for each
 * value, at half the cost of the library for each element. A text with an unpaired surrogate is refused here, with the SQLSTATE that the
 * database would give: encoded as UTF-8 it would be stored as another text.
 */
type Value = string | number | bigint | boolean | null;

const special = /["\\]/;

/**
 * One column of many rows, as text to be cast to an array.
 * @throws Error with SQLSTATE 22021 when a text has an unpaired surrogate
 */
export function arrayText<T>(rows: readonly T[], read: (row: T) => Value): string {
  let text = "";
  for (const row of rows) text += `,${elementText(read(row))}`;
  return `{${text.slice(1)}}`;
}

/** One element of such an array. Unquoted, null is NULL. */
export function elementText(value: Value): string {
  if (typeof value !== "string") return String(value);
  if (!value.isWellFormed()) throw new HalfCharacterError("A text has half of a surrogate pair");
  return special.test(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${value}"`;
}

const elements = /"((?:[^"\\]|\\.)*)"|([^{},]+)/gs;

/** Reads an array of one dimension as PostgreSQL writes it. @param read an element that is not NULL */
export function readArray<T>(text: string, read: (element: string) => T): (T | null)[] {
  return Array.from(text.matchAll(elements), ([, quoted, plain = ""]) => {
    if (quoted !== undefined) return read(quoted.replaceAll(/\\(.)/gs, "$1"));
    return plain === "NULL" ? null : read(plain);
  });
}

/**
 * Many rows as text to be cast to an array of a composite type. For wide rows this costs the server a fifth less than one array for each
 * column, which it would read in parallel. COPY costs as little, but reports its errors too late and cannot be sent with other statements.
 * @param read the fields in the order of the type
 * @throws Error with SQLSTATE 22021 when a text has an unpaired surrogate
 */
export function recordsText<T>(rows: readonly T[], read: (row: T) => readonly Value[]): string {
  let text = "";
  for (const row of rows) {
    text += text === "" ? '"(' : ',"(';
    let separator = "";
    for (const value of read(row)) {
      text += typeof value === "string" ? separator + fieldText(value) : value === null ? separator : separator + String(value);
      separator = ",";
    }
    text += ')"';
  }
  if (!text.isWellFormed()) throw new HalfCharacterError("A text has half of a surrogate pair");
  return `{${text}}`;
}

/** Bytes in PostgreSQL's text form, to be cast to `bytea`. */
export function byteaText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`;
}

/** The error that the database would give, SQLSTATE 22021: encoded as UTF-8 the text would be stored as another one. */
class HalfCharacterError extends Error {
  readonly code = "22021";
}

const specialInField = /["\\(),\s]|^$/;

/** Quoted twice, as a field of a record and as a part of an array's element. */
function fieldText(value: string): string {
  if (!specialInField.test(value)) return value;
  return `\\"${value.replaceAll(/["\\]/g, String.raw`\\\$&`)}\\"`;
}
