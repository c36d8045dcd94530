/** A contender of the bench: it is started, loaded and stopped. */
import type { AgentApi } from "../load/agent-body.ts";
import type { Limit, LimitedKey } from "../overspend/limit.ts";
import type { Usage } from "../processes/usage.ts";

/** The subject of a load. */
export interface Subject {
  name: string;
  /** The time under load before a measurement, so that each key has been used once. */
  warmUpSeconds: number;
  /** Its name for a model of the provider. */
  model(upstream: string): string;
  /** Only in the part about agents: the API that its requests speak. */
  api?: AgentApi;
}

export interface Contender extends Subject {
  /** Its name for the model of agents on an API. Absent: it is not measured with agents. */
  agentModel?(api: AgentApi): string;
  /** Resolves when it serves. */
  start(): Promise<Running>;
}

export interface Running extends AsyncDisposable {
  /** The arguments of `load` that address it. */
  target: string[];
  /** The same for an API of agents. Absent: it has none. */
  agentTarget?(api: AgentApi): string[];
  /** Its processes by name, without the provider's. */
  usage(): Record<string, Usage>;
  /** The id of the process that serves clients, if there is exactly one. */
  front?: number;
  /** Stops all its processes, so that they cost nothing while another contender is measured. */
  suspend?(): void;
  resume?(): void;
  /** Only gateways with budgets: gives a key for some requests. @param upstream the provider's model */
  limited?(limit: Limit, upstream: string): Promise<LimitedKey>;
  /** Only Weir: checks the ledger after a load. @throws Error when it is broken */
  verify?(say: (line: string) => void): Promise<void>;
  /** Only Weir: the number of generations that the ledger has not confirmed yet. */
  unsettled?(): Promise<number>;
  /** Only Weir: waits until the ledger has confirmed everything. @returns when, in milliseconds since 1970 */
  settled?(): Promise<number>;
}
