/** The processes of a run, each in its place: what dies in it has a successor there. */
import type { ModelsView } from "../../src/gateway/admission/decide.ts";
import { chatModel } from "../support/model.ts";
import type { Chance } from "./chance.ts";
import type { Clients } from "./clients.ts";
import type { CountersServer } from "./counters-server.ts";
import type { Disk } from "./disk.ts";
import { Folders } from "./folders.ts";
import { SimGateway } from "./gateway.ts";
import { Host } from "./host.ts";
import type { LedgerServer } from "./ledger-server.ts";
import type { Network } from "./network.ts";
import type { Recorder } from "./recorder.ts";
import type { Scheduler } from "./scheduler.ts";
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
  startMs: number;
}

export type Role = "gateway" | "admission" | "metering";

interface Place {
  role: Role;
  name: string;
  host: Host;
  gateway: SimGateway | null;
}

/** No multiple of a nano-USD a token: what is rounded too early, or more than once, shows. */
const prices = { input: 1_037_500n, output: 2_000_300n, cacheRead: 250_700n, cacheWrite: 1_037_500n };
const model = chatModel([], { routes: chatModel().routes.map((one) => ({ ...one, prices, hiddenInputTokens: 64 })) });
/** Its provider bills thoughts that it does not deliver. */
const thinker = { ...model, id: "acme/thinker", reasons: true };
const models: ModelsView = {
  readable: () => true,
  find: (id) => [model, thinker].find((one) => one.id === id) ?? null,
  usableRoutes: ({ routes }) => ({ routes, reason: null }),
};

/** From the question who knows of a hold to the message that it is given up, in milliseconds. */
const reachedMs = 1_000;

export class Fleet {
  readonly places: Place[];
  readonly #parts: FleetParts;
  readonly #folders: Folders;

  /** Two of each: gateways, workers of admission, and metering with one that stands by. */
  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#folders = new Folders(parts.disk);
    const roles: Role[] = ["gateway", "gateway", "admission", "admission", "metering", "metering"];
    this.places = roles.map((role, index) => {
      const place: Place = { role, name: `${role}-${(index % 2) + 1}`, host: this.#newHost(role), gateway: null };
      this.#start(place);
      return place;
    });
  }

  /** A gateway that has it open, and that all others could reach when it was asked for. */
  whoKnows(generation: string): string | null {
    const since = this.#parts.scheduler.now - reachedMs;
    const reached = this.of("gateway").filter(({ host }) => host.isHeard && host.heardSince < since);
    return reached.find(({ gateway }) => [...(gateway?.open.values() ?? [])].includes(generation))?.name ?? null;
  }

  get gateways(): SimGateway[] {
    return this.places.flatMap(({ gateway }) => gateway ?? []);
  }

  of(role: Role): Place[] {
    return this.places.filter((place) => place.role === role);
  }

  /** Its successor starts after a while. */
  crash(place: Place, downMs: number): void {
    if (place.host.isDead) return;
    place.host.die();
    this.#parts.clients.died(place.host);
    this.#parts.scheduler.plan(downMs, null, () => this.revive(place));
  }

  revive(place: Place): void {
    if (!place.host.isDead) return;
    place.host = this.#newHost(place.name);
    this.#start(place);
  }

  /** Whether every open generation would be told of by somebody who is asked now. */
  get canReport(): boolean {
    const areHeard = this.of("gateway").every(({ host }) => host.isHeard);
    return areHeard && !this.hasOrphans;
  }

  get hasOrphans(): boolean {
    return this.#folders.hasOrphans;
  }

  #newHost(name: string): Host {
    return new Host(name, this.#parts);
  }

  #start(place: Place): void {
    const { host, role } = place;
    const parts = { ...this.#parts, host, models, folders: this.#folders };
    if (role === "gateway") place.gateway = this.#gateway(place);
    else if (role === "admission") startAdmission(parts);
    else startMetering(parts);
  }

  /** One whose disk takes nothing cannot even start; it is tried again. */
  #gateway(place: Place): SimGateway | null {
    const { host } = place;
    try {
      return new SimGateway({ ...this.#parts, host, models, folders: this.#folders });
    } catch {
      host.die();
      this.#parts.scheduler.plan(1_000, null, () => this.revive(place));
      return place.gateway;
    }
  }
}
