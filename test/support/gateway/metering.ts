/** Metering over a database, counters in this process and a bus in memory. */
import type { Lock } from "../../../src/backing/advisory-lock.ts";
import type { Database } from "../../../src/backing/backing.ts";
import type { Delivered } from "../../../src/backing/bus.ts";
import type { Counters } from "../../../src/backing/counters.ts";
import { EmbeddedCounters } from "../../../src/backing/embedded/counters.ts";
import { decodeSettled, encodeSettlement, encodeSettlements, type Settlement } from "../../../src/gateway/journal/settlement.ts";
import { newInternalId } from "../../../src/kernel/ids.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import type { SettlementStore } from "../../../src/gateway/metering/settle.ts";
import { settlementStore } from "../../../src/gateway/metering/store.ts";
import { maintenanceStore, type MaintenanceStore } from "../../../src/gateway/metering/maintenance-store.ts";
import { settleEvents } from "../../../src/gateway/metering/worker.ts";
import { ManualClock } from "../clock.ts";
import { FakeBus } from "../servers/fake-bus.ts";

export class TestMetering {
  readonly clock = new ManualClock();
  readonly bus = new FakeBus();
  readonly log = silentLog;
  /** Every process may take it. */
  lock: Lock = () => Promise.resolve(new AsyncDisposableStack());
  readonly sql: Database;
  counters: Counters = new EmbeddedCounters(this.clock);
  store: SettlementStore;
  maintenance: MaintenanceStore;
  /** Batches that were confirmed to be in the ledger. */
  readonly confirmed: string[] = [];

  constructor(sql: Database) {
    this.sql = sql;
    this.store = settlementStore(sql);
    this.maintenance = maintenanceStore(sql);
    this.bus.listen("settled", (payload) => this.confirmed.push(...decodeSettled(payload)));
  }

  /** One delivery of events, each a batch of these settlements. */
  async settle(...batches: Settlement[][]): Promise<void> {
    await this.deliver(...batches.map((settlements) => event(settlements)));
  }

  deliver(...events: Delivered[]): Promise<void> {
    return settleEvents(events, this);
  }
}

export function event(settlements: Settlement[], id = newInternalId(0)): Delivered {
  return { id, payload: encodeSettlements(id, settlements.map(encodeSettlement)), attempt: 1 };
}

export function rawEvent(text: string): Delivered {
  return { id: newInternalId(0), payload: new TextEncoder().encode(text), attempt: 1 };
}
