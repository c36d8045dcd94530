import { Notes, type Evidence, type Finding } from "../evidence.ts";

/** I-15: no log, table, stream, metric or Redis key contains a key, a prompt or a provider's text, in any encoding. */
export function noSecrets({ traces, canaries }: NonNullable<Evidence["secrets"]>): Finding {
  const notes = new Notes();
  if (traces.names.length === 0) return notes;
  for (const { name, text } of canaries) {
    const found = traces.whereIs(text);
    notes.check(found.length === 0, () => `${name} is in ${found.join(", ")}`);
  }
  return notes;
}
