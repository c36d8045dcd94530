/** The processes of a run. Each has a slot; when a process dies, a successor takes its slot. */
import type { ModelsView } from "../../src/gateway/admission/decide.ts";
import type { Chance } from "./chance.ts";
import type { Clients } from "./clients.ts";
import type { CountersServer } from "./world/counters-server.ts";
import type { Disk } from "./world/disk.ts";
import { Folders } from "./world/folders.ts";
import { SimGateway } from "./gateway.ts";
import { Host } from "./world/host.ts";
import type { LedgerServer } from "./world/ledger-server.ts";
import type { NetworkConditions } from "./world/network-conditions.ts";
import type { Network } from "./world/network.ts";
import type { Plan } from "./plan.ts";
import type { Recorder } from "./recorder.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Secrets } from "./secrets.ts";
import type { StripeServer } from "./top-ups/stripe-server.ts";
import { TopUps } from "./top-ups/top-ups.ts";
import { startAdmission, startMetering } from "./workers.ts";

export interface FleetParts {
  scheduler: Scheduler;
  chance: Chance;
  network: Network;
  counters: CountersServer;
  ledger: LedgerServer;
  disk: Disk;
  recorder: Recorder;
  clients: Clients;
  models: ModelsView;
  secrets: Secrets;
  conditions: NetworkConditions;
  plan: Plan;
  /** Called when a generation continues with a different key. */
  onOtherPayer(host: Host): void;
}

export type Role = "gateway" | "admission" | "metering";

interface Slot {
  role: Role;
  name: string;
  host: Host;
  gateway: SimGateway | null;
}

/** The time from asking all gateways about a hold to the message that it expired, in milliseconds. */
const surveyMs = 1_000;

export class Fleet {
  readonly slots: Slot[];
  /** null: the run has none. */
  readonly topUps: TopUps | null;
  readonly #parts: FleetParts;
  readonly #folders: Folders;

  /** Starts two of each: gateways, admission workers and metering workers. */
  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#folders = new Folders(parts.disk);
    const { isOn, chance } = parts.plan.topUps;
    this.topUps = isOn ? new TopUps({ ...parts, chance, gateways: () => this.gateways }) : null;
    const roles: Role[] = ["gateway", "gateway", "admission", "admission", "metering", "metering"];
    this.slots = roles.map((role, index) => {
      const slot: Slot = { role, name: `${role}-${(index % 2) + 1}`, host: this.#newHost(role), gateway: null };
      this.#start(slot);
      return slot;
    });
  }

  /** The gateway that has the generation open, if the others could reach it when they asked; null: none. */
  ownerOf(generation: string): string | null {
    const since = this.#parts.scheduler.now - surveyMs;
    const reached = this.of("gateway").filter(({ host }) => host.isReachable && host.reachableSince < since);
    return reached.find(({ gateway }) => [...(gateway?.open.values() ?? [])].includes(generation))?.name ?? null;
  }

  /** The servers of others that it calls. */
  get outside(): StripeServer[] {
    return this.topUps === null ? [] : [this.topUps.stripe];
  }

  get gateways(): SimGateway[] {
    return this.slots.flatMap(({ gateway }) => gateway ?? []);
  }

  of(role: Role): Slot[] {
    return this.slots.filter((slot) => slot.role === role);
  }

  /** Kills the process. Its successor starts after `downMs`. */
  crash(slot: Slot, downMs: number): void {
    if (slot.host.isDead) return;
    slot.host.die();
    this.#parts.clients.died(slot.host);
    this.#parts.scheduler.plan(downMs, null, () => this.revive(slot));
  }

  revive(slot: Slot): void {
    if (!slot.host.isDead) return;
    slot.host = this.#newHost(slot.name);
    this.#start(slot);
  }

  /** Whether the gateways, if asked now, would report every open generation. */
  get canReport(): boolean {
    const areReachable = this.of("gateway").every(({ host }) => host.isReachable);
    return areReachable && !this.hasOrphans;
  }

  get hasOrphans(): boolean {
    return this.#folders.hasOrphans;
  }

  #newHost(name: string): Host {
    const { scheduler, plan } = this.#parts;
    return new Host(name, { scheduler, startMs: plan.startMs });
  }

  #start(slot: Slot): void {
    const { host, role } = slot;
    const parts = { ...this.#parts, host };
    if (role === "gateway") slot.gateway = this.#gateway(slot);
    else if (role === "admission") startAdmission(parts);
    else {
      startMetering(parts);
      this.topUps?.startWorker(host);
    }
  }

  /** A gateway with a full disk cannot start, so its start is retried. */
  #gateway(slot: Slot): SimGateway | null {
    const { host } = slot;
    try {
      return new SimGateway({ ...this.#parts, host, folders: this.#folders });
    } catch {
      host.die();
      this.#parts.scheduler.plan(1_000, null, () => this.revive(slot));
      return slot.gateway;
    }
  }
}
