/** The texts within a value, each of which a hostile one can take the place of. */

/** One value for each text within `value`, with `text` in its place. */
export function* withEachText(value: unknown, text: string): Generator<unknown> {
  if (typeof value === "string") yield text;
  else if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) for (const other of withEachText(one, text)) yield value.with(index, other);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      for (const other of withEachText(one, text)) yield { ...value, [key]: other };
    }
  }
}
