/** Who is measured: started, loaded, stopped. */
import type { Usage } from "../processes/usage.ts";

/** Whom a load asks. */
export interface Subject {
  name: string;
  /** How long it is under load before anything is measured, so that each key was used once. */
  warmUpSeconds: number;
  /** What it calls a model of the provider. */
  model(upstream: string): string;
}

export interface Contender extends Subject {
  /** Resolves when it serves. */
  start(): Promise<Running>;
}

export interface Running extends AsyncDisposable {
  /** What `load` is told to reach it. */
  target: string[];
  /** Its processes by name, the provider's apart. */
  usage(): Record<string, Usage>;
  /** The id of the process that serves clients, where it is one. */
  front?: number;
  /** Of Weir: what must be true of it after a load. @throws Error where it is not */
  verify?(say: (line: string) => void): Promise<void>;
  /** Of Weir: how many generations the ledger has not confirmed yet. */
  unsettled?(): Promise<number>;
  /** Of Weir: waits until the ledger has confirmed everything. @returns when, in milliseconds since 1970 */
  settled?(): Promise<number>;
}
