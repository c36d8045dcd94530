/** JSON values just below 1 MiB that are as slow as possible to parse, to check and to serialize. */

const bytesMax = 1_000_000;

/** Joins as many values as fit. */
function many(make: (index: number) => string): string {
  const all: string[] = [];
  let bytes = 0;
  for (let index = 0; ; index++) {
    const one = make(index);
    bytes += one.length + 1;
    if (bytes > bytesMax) return all.join(",");
    all.push(one);
  }
}

/** An engine stores keys of digits separately. Without any order they are the slowest keys. */
const digits = (index: number) => String((index * 7_919) % 1_000_000);
const letters = (index: number) => index.toString(36);
const fields = (from: number, count: number, key: (index: number) => string) =>
  `{${Array.from({ length: count }, (_, index) => `"${key(from + index)}":1`).join(",")}}`;

export const heavyValues: Record<string, string> = {
  "an object of all keys": `{${many((index) => `"${letters(index)}":1`)}}`,
  "an object of keys of digits": `{${many((index) => `"${digits(index)}":1`)}}`,
  "objects of 5,000 keys of digits": `[${many((index) => fields(index * 5_000, 5_000, digits))}]`,
  "objects of a key each": `[${many((index) => `{"${letters(index)}":1}`)}]`,
  "empty lists": `[${many(() => "[]")}]`,
  texts: `[${many((index) => `"${letters(index)}"`)}]`,
  "a text": `"${"x".repeat(bytesMax)}"`,
  "a text of escapes": `"${"\\n".repeat(bytesMax / 2)}"`,
  "a text of escaped control characters": `"${"\\u0001".repeat(bytesMax / 6)}"`,
  "a text of characters of four bytes": `"${"😀".repeat(bytesMax / 4)}"`,
  "the deepest list": "[".repeat(60) + "]".repeat(60),
};
