/** The steps from a bare provider call to all of Weir, one feature after the other. The difference of two steps is the feature's cost. */

/** Steps that bench/features/compose.ts composes in one process from the parts of src, with stand-ins for missing features. */
export type ComposedStep = "app" | "key" | "spool" | "memory" | "fleet" | "events";

export interface Step {
  name: ComposedStep | "relay" | "metering" | "prompts";
  /** The features that it adds to the previous step. */
  adds: string;
}

export const steps: Step[] = [
  { name: "relay", adds: "bytes in and out: the bare proxy" },
  { name: "app", adds: "routes, body check, the provider's format, the answer's format, metrics" },
  { name: "key", adds: "authentication of the key" },
  { name: "spool", adds: "the spool: entries on disk before the provider is called and before the answer ends" },
  { name: "memory", adds: "admission (window, limits, credit, hold) in the same process, in memory" },
  { name: "fleet", adds: "admission by a worker, over NATS, in Redis" },
  { name: "events", adds: "settlements are stored in JetStream" },
  { name: "metering", adds: "charges, ledger, totals and request log in PostgreSQL: all of Weir" },
  { name: "prompts", adds: "stored prompts and answers, sealed (a workspace's choice, off by default)" },
];
