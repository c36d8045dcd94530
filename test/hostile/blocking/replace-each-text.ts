/** Yields one copy of the value for each text within it, with that text replaced. */
export function* replaceEachText(value: unknown, text: string): Generator<unknown> {
  if (typeof value === "string") yield text;
  else if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) for (const other of replaceEachText(one, text)) yield value.with(index, other);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      for (const other of replaceEachText(one, text)) yield { ...value, [key]: other };
    }
  }
}
