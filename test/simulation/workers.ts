/** Starts the workers as `workers/` does, but over simulated parts. */
import type { ModelsView } from "../../src/gateway/admission/decide.ts";
import { MeteringLagGuard } from "../../src/gateway/admission/worker/guards.ts";
import { AdmissionService } from "../../src/gateway/admission/worker/service.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { startReconciliation, startReplays, startSweeps } from "../../src/gateway/metering/maintenance.ts";
import { consumeSettlements } from "../../src/gateway/metering/worker.ts";
import type { CountersServer } from "./world/counters-server.ts";
import type { Host } from "./world/host.ts";
import type { LedgerServer } from "./world/ledger-server.ts";
import type { Network } from "./world/network.ts";
import { recordsMax } from "./plan.ts";

export interface WorkerParts {
  host: Host;
  network: Network;
  counters: CountersServer;
  ledger: LedgerServer;
  models: ModelsView;
}

export function startAdmission({ host, network, counters, ledger, models }: WorkerParts): void {
  const bus = network.busOf(host);
  const { clock } = host;
  const service = new AdmissionService({
    bus,
    counters: counters.clientOf(host),
    store: ledger.loads(host),
    findRecords: ledger.finder(host),
    models,
    metering: new MeteringLagGuard(bus, clock),
    clock,
    log: silentLog,
    recordsMax,
  });
  bus.listen("records-changed", () => service.keyRecords.clear());
  void bus.serve("admission", (payload) => service.reply(payload));
}

export function startMetering({ host, network, counters, ledger }: WorkerParts): void {
  const store = ledger.settlements(host);
  const maintenance = ledger.maintenance(host);
  const parts = {
    bus: network.busOf(host),
    counters: counters.clientOf(host),
    clock: host.clock,
    log: silentLog,
    store,
    maintenance,
  };
  startSweeps(parts);
  startReconciliation(parts);
  startReplays({ ...parts, lock: everyLock });
  void consumeSettlements(parts);
}

/** Two processes may hold one for a moment, as after a pause. */
async function everyLock(): Promise<AsyncDisposable> {
  return new AsyncDisposableStack();
}
