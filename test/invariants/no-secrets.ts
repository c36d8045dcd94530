import { Notes, type Evidence, type Finding } from "./evidence.ts";

/** I-15: no key, prompt or provider's text stands in a log, a table, a stream, a metric or a key of Redis, in any form of it. */
export function noSecrets({ traces, canaries }: NonNullable<Evidence["secrets"]>): Finding {
  const notes = new Notes();
  if (traces.names.length === 0) return notes;
  for (const { name, text } of canaries) {
    const found = traces.whereIs(text);
    notes.check(found.length === 0, () => `${name} stands in ${found.join(", ")}`);
  }
  return notes;
}
