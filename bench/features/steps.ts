/** From the provider's call alone to the whole of Weir, one feature after the other: what each of them costs is the difference. */

/** Composed in one process from the parts of src, with stand-ins for what is still missing: bench/features/compose.ts. */
export type ComposedStep = "app" | "key" | "spool" | "memory" | "fleet" | "events";

export interface Step {
  name: ComposedStep | "relay" | "metering" | "prompts";
  /** What it has beyond the step before. */
  adds: string;
}

export const steps: Step[] = [
  { name: "relay", adds: "bytes in and out: the bare proxy" },
  { name: "app", adds: "routes, body check, the provider's format, the answer's format, metrics" },
  { name: "key", adds: "the key is known and may call" },
  { name: "spool", adds: "what is owed is written to disk before the provider is called and before the answer ends" },
  { name: "memory", adds: "window, limits, credit and hold are decided, in the same process and in memory" },
  { name: "fleet", adds: "they are decided by a worker, over NATS, in Redis" },
  { name: "events", adds: "settlements are stored in JetStream" },
  { name: "metering", adds: "charges, ledger, totals and request log are written to PostgreSQL: Weir as it is" },
  { name: "prompts", adds: "prompts and answers are kept, sealed (a workspace's choice, off by default)" },
];
