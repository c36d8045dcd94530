/** The database: the in-memory ledger and the key records, called over the network. */
import type { LoadStore } from "../../../src/gateway/admission/worker/loads.ts";
import type { FindRecords } from "../../../src/gateway/admission/key-cache.ts";
import type { KeyRecord } from "../../../src/accounts/keys/record.ts";
import { databaseDeadlineMs } from "../../../src/backing/limits.ts";
import type { EntryKind } from "../../../src/gateway/credit/store.ts";
import { hasLeft, type Charge, type Booked, type SettlementStore } from "../../../src/gateway/metering/settle.ts";
import type { MaintenanceStore, ReplayDue } from "../../../src/gateway/metering/maintenance-store.ts";
import { backUp } from "../../support/ledger/copy-ledger.ts";
import { MemoryLedger } from "../../support/gateway/memory-ledger.ts";
import type { EventOf } from "../../invariants/history.ts";
import type { Host } from "./host.ts";
import type { Recorder } from "../recorder.ts";
import type { Scheduler } from "../scheduler.ts";
import { Server } from "./server.ts";
import type { NetworkConditions } from "./network-conditions.ts";

export class LedgerServer {
  readonly server: Server;
  readonly ledger = new MemoryLedger();
  /** Key records by the key's hash, without revoked keys. */
  readonly records = new Map<string, KeyRecord>();
  deadLetters = 0;
  /** The reachable gateway that had a generation open when it expired, by generation. */
  readonly knownBy = new Map<string, string>();
  readonly #recorder: Recorder;

  constructor({ scheduler, conditions, recorder }: { scheduler: Scheduler; conditions: NetworkConditions; recorder: Recorder }) {
    this.#recorder = recorder;
    const unavailable = () => new Error("the simulated database did not answer");
    this.server = new Server({ scheduler, conditions, deadlineMs: databaseDeadlineMs, unavailable });
  }

  settlements(host: Host): SettlementStore {
    return { settle: (charges) => this.server.call(host, () => this.#settle(charges)) };
  }

  loads(host: Host): LoadStore {
    return {
      account: (workspace, generations) => this.server.call(host, () => this.ledger.account(workspace, generations)),
      keyMonth: (workspace, key, month) => this.server.call(host, () => this.ledger.keyMonth(workspace, key, month)),
      budgets: (workspace, totals) => this.server.call(host, () => this.ledger.budgets(workspace, totals)),
      claims: (claims, since) => this.server.call(host, () => this.ledger.claims(claims, since)),
      positions: (counted) => this.server.call(host, () => this.ledger.positions(counted)),
      beginEpochs: (starts) => this.server.call(host, () => this.ledger.beginEpochs(starts)),
      server: () => this.server.call(host, () => this.ledger.server()),
    };
  }

  finder(host: Host): FindRecords {
    return (hashes) => this.server.call(host, async () => new Map([...this.records].filter(([hash]) => hashes.includes(hash))));
  }

  maintenance(host: Host): MaintenanceStore {
    return {
      storeDeadLetters: (letters) => this.server.call(host, async () => void (this.deadLetters += letters.length)),
      makeMonthsAhead: async () => {},
      replayDue: () => this.server.call(host, () => this.#replayDue()),
      finishReplay: (due) => this.server.call(host, () => this.ledger.finishReplay(due)),
      listWorkspaces: (after, limit) => this.server.call(host, async () => this.#workspacesAfter(after).slice(0, limit)),
      readAccounts: (workspaces, month) =>
        this.server.call(host, async () => workspaces.map((workspace) => this.ledger.head(workspace, month))),
    };
  }

  /** @returns what brings the current ledger back, on another server, unless another one came back: charges and credits since are lost */
  remember(): () => void {
    const restore = backUp(this.ledger);
    const { history } = this.#recorder;
    const noted = history.length;
    const { server } = this.ledger.epochs;
    return () => {
      if (this.ledger.epochs.server !== server) return;
      restore();
      const lost = history.slice(noted).filter(({ kind }) => kind === "charged" || kind === "credited");
      this.#recorder.note({ kind: "restored", lost: lost as (EventOf<"charged"> | EventOf<"credited">)[] });
    };
  }

  credit(workspace: string, amount: bigint): void {
    this.ledger.append(workspace, amount);
    this.#recorder.note({ kind: "credited", workspace, amount });
  }

  /** Books a movement of a card payment. */
  move(workspace: string, amount: bigint, movement: { kind: EntryKind; reference: string }): void {
    this.ledger.append(workspace, amount, movement);
    const payment = movement.kind === "credit" ? (/pi_\d+/.exec(movement.reference)?.[0] ?? movement.reference) : null;
    this.#recorder.note({ kind: "credited", workspace, amount, payment });
  }

  /** Nothing is lost yet on the first server, so its replay is left out: it would change nothing and delay the rest of the run. */
  async #replayDue(): Promise<ReplayDue | null> {
    const { epochs } = this.ledger;
    if (epochs.server === 1n) epochs.replayedOn = 1n;
    return await this.ledger.replayDue();
  }

  async #settle(charges: Charge[]): Promise<Booked> {
    const booked = await this.ledger.settle(charges);
    for (const { settlement } of charges) {
      const { generation, workspace, key, month, admittedAt, outcome, reserved, endpoint } = settlement;
      const fresh = booked.fresh.get(generation);
      if (!fresh) continue;
      const { cost, excess } = fresh;
      const cut = settlement.status === 500 && settlement.usageEstimated;
      const facts = { generation, workspace, key, month, admittedAt, outcome, reserved: BigInt(reserved), cost, excess, cut };
      const own = settlement.ownKey && { ownKey: { id: settlement.ownKey.id, listCost: BigInt(settlement.ownKey.listCost) } };
      const knownBy = outcome === "expired" ? this.knownBy.get(generation) : undefined;
      this.#recorder.note({
        kind: "charged",
        ...facts,
        late: booked.late.has(generation),
        ...own,
        ...(endpoint && { endpoint }),
        ...(settlement.claim && hasLeft({ settlement, cost }) && { hasLeft: true as const }),
        ...(knownBy && { knownBy }),
      });
    }
    return booked;
  }

  #workspacesAfter(after: string): string[] {
    return [...this.ledger.accounts.keys()].filter((workspace) => workspace > after).toSorted();
  }
}
