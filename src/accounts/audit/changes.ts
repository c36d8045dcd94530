/** The changes in an audit row: the changed fields only, with their values before and after. */

export type FieldValue = string | number | boolean | null | readonly string[];
export type Fields = Readonly<Record<string, FieldValue>>;
export type Changes = Record<string, { from: FieldValue; to: FieldValue }>;

/** Fields of `after` whose value differs from `before`; a field that `before` lacks was null. */
export function changedFields({ before, after }: { before: Fields; after: Fields }): Changes {
  const changes: Changes = {};
  for (const [field, to] of Object.entries(after)) {
    const from = before[field] ?? null;
    if (JSON.stringify(from) !== JSON.stringify(to)) changes[field] = { from, to };
  }
  return changes;
}
