/** Customers whose requests compete for their credit, with the parts of a fleet that rebuild their counters. No request ever ends. */
import {
  CountersUnavailableError,
  type AdmitReply,
  type AdmitRequest,
  type Counters,
  type Hold,
} from "../../../src/backing/counters.ts";
import { holdMs } from "../../../src/backing/limits.ts";
import { loadKeyMonth, loadWorkspace, type LoadParts } from "../../../src/gateway/admission/worker/loads.ts";
import { decodeReportRequest, encodeOpenReport } from "../../../src/gateway/journal/open-report.ts";
import { monthOf } from "../../../src/kernel/clock.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { MemoryLedger } from "../gateway/memory-ledger.ts";
import { FakeBus } from "../servers/fake-bus.ts";

const amount = 10n;

interface Pending {
  request: AdmitRequest;
  /** A gateway that reports its open generations gives up what it does not know yet. */
  isGivenUp: boolean;
}

export class Customers {
  readonly workspaces: string[];
  readonly #creditFor: number;
  readonly #counters: Counters;
  readonly #parts: LoadParts;
  /** Admitted, as the gateways know it. */
  readonly #held = new Map<string, Hold[]>();
  readonly #pending = new Map<string, Pending>();
  #turn = 0;

  /** @param creditFor how many requests each customer can pay */
  constructor({ counters, count, creditFor }: { counters: Counters; count: number; creditFor: number }) {
    this.#counters = counters;
    this.#creditFor = creditFor;
    this.workspaces = Array.from({ length: count }, (_, number) => `customer-${crypto.randomUUID()}-${number}`);
    const [bus, store] = [new FakeBus(), new MemoryLedger()];
    for (const workspace of this.workspaces) store.open(workspace, amount * BigInt(creditFor));
    bus.serveScatter("open-generations", (payload) => this.#report(decodeReportRequest(payload).workspace));
    this.#parts = { bus, counters, store };
  }

  /** How many requests of each customer are admitted. */
  get admitted(): number[] {
    return this.workspaces.map((workspace) => this.#held.get(workspace)?.length ?? 0);
  }

  /** The next customers in turn send a request each, in one batch. @returns how many of each outcome; "unavailable": none is known */
  async send(count: number): Promise<Record<string, number>> {
    const workspaces = Array.from({ length: count }, () => this.workspaces[this.#turn++ % this.workspaces.length] ?? "");
    return this.ask([...new Set(workspaces)]);
  }

  async ask(workspaces: string[]): Promise<Record<string, number>> {
    const outcomes: Record<string, number> = {};
    const sent = workspaces.map((workspace) => ({ request: requestOf(workspace), isGivenUp: false }));
    for (const pending of sent) this.#pending.set(pending.request.generation, pending);
    const replies = await this.#admit(sent.map(({ request }) => request));
    const lacking: string[] = [];
    for (const [place, pending] of sent.entries()) {
      const reply = replies?.[place];
      const outcome = reply?.outcome ?? "unavailable";
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      this.#pending.delete(pending.request.generation);
      if (reply?.outcome === "not_ready") lacking.push(pending.request.workspace);
      else if (reply?.outcome === "admitted" && !pending.isGivenUp) this.#hold(pending.request, reply);
      else if (reply?.outcome !== "insufficient_credit") void this.#giveUp(pending.request);
    }
    await Promise.all(lacking.map((workspace) => this.#load(workspace)));
    return outcomes;
  }

  /** Sends until every customer's credit is used up. */
  async spendAll(): Promise<void> {
    const rest = () => this.workspaces.filter((workspace) => (this.#held.get(workspace)?.length ?? 0) < this.#creditFor);
    const deadline = performance.now() + 10_000;
    while (rest().length > 0 && performance.now() < deadline) await this.ask(rest());
  }

  async #admit(requests: AdmitRequest[]): Promise<AdmitReply[] | null> {
    try {
      return (await this.#counters.admitMany({ month: monthOf(Date.now()), requests })).replies;
    } catch (error) {
      if (!(error instanceof CountersUnavailableError)) throw error;
      return null;
    }
  }

  #hold({ generation, workspace, key, fingerprint }: AdmitRequest, { at, month }: { at: number; month: string }): void {
    const hold = { generation, key, month, fingerprint, amount, admittedAt: at, deadline: at + holdMs };
    this.#held.set(workspace, [...(this.#held.get(workspace) ?? []), hold]);
  }

  /** Whether it was admitted is unknown: a gateway voids it until that is confirmed. */
  async #giveUp({ workspace, generation }: AdmitRequest): Promise<void> {
    const resolve = [{ workspace, generation, as: "void" as const }];
    for (let tries = 0; tries < 200; tries++) {
      const isDone = await this.#counters.resolveMany({ resolve, accounts: [], keyMonths: [] }).then(
        () => true,
        () => false,
      );
      if (isDone) return;
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  /** Fails while the store is away, or when another was faster: the next request tries again. */
  async #load(workspace: string): Promise<void> {
    const month = monthOf(Date.now());
    await loadWorkspace({ workspace, month }, this.#parts)
      .then(() => loadKeyMonth({ workspace, key: keyOf(workspace), month }, this.#parts))
      .catch(() => {});
  }

  #report(workspace: string): Uint8Array {
    for (const pending of this.#pending.values()) if (pending.request.workspace === workspace) pending.isGivenUp = true;
    return encodeOpenReport({ holds: this.#held.get(workspace) ?? [], windows: [], blocks: [] });
  }
}

function keyOf(workspace: string): string {
  return `key of ${workspace}`;
}

function requestOf(workspace: string): AdmitRequest {
  return {
    generation: newGenerationId(Date.now()),
    workspace,
    key: keyOf(workspace),
    fingerprint: "f00d",
    requestsPerMinute: 1_000_000,
    amount,
    keyLimit: null,
    workspaceLimit: null,
    modelRefusal: null,
    deadline: null,
  };
}
