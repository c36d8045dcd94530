/** The world of a run: its servers, processes and clients, and the faults that can hit them. */
import type { KeyRecord } from "../../../src/accounts/keys/record.ts";
import { budgetFields, memberOf, noBudgets, noteBudgets } from "../variants/budgets.ts";
import { allModels, chatModels } from "../catalog.ts";
import type { Chance } from "../chance.ts";
import { Clients, someEmbedding, someRequest } from "../clients.ts";
import { CountersServer } from "./counters-server.ts";
import { Disk } from "./disk.ts";
import { Fleet } from "../fleet.ts";
import type { Host } from "./host.ts";
import { LedgerServer } from "./ledger-server.ts";
import { Network } from "./network.ts";
import { keyOf, makePlan, someOwnKeys, type Plan, type PlannedKey, type PlannedWorkspace } from "../plan.ts";
import { Recorder } from "../recorder.ts";
import { Scheduler } from "../scheduler.ts";
import { Secrets } from "../secrets.ts";
import { healthyRates, NetworkConditions } from "./network-conditions.ts";

type FleetSlot = Fleet["slots"][number];

export class World {
  readonly plan: Plan;
  readonly chance: Chance;
  readonly scheduler: Scheduler;
  readonly conditions: NetworkConditions;
  readonly recorder: Recorder;
  readonly network: Network;
  readonly counters: CountersServer;
  readonly ledger: LedgerServer;
  readonly disk = new Disk();
  readonly clients: Clients;
  readonly fleet: Fleet;
  readonly secrets: Secrets;
  faults = 0;
  /** The longest time that a part was frozen, in milliseconds. */
  frozenMsMax = 0;
  /** A process that releases lost admissions, or its record of one, may have been lost. */
  mayLeak = false;
  /** Called when a generation continues with a different key. */
  onOtherPayer: (host: Host) => void = () => {};
  #isHealed = false;
  #keys: PlannedKey[];
  /** The counters will be rolled back. Until then no process that knows of newer holds may be lost. */
  #isRollingBack = false;
  /** A gateway lost its disk. Its open generations exist only in the counters until they expire. */
  #hasLostDisk = false;
  #diskWasFull = false;
  /**
   * Whether a gateway died with ends that its full disk had refused and the ledger had. Its successor ends them again, as cut; a ledger that
   * lost them meanwhile would keep that.
   */
  hasUnspooledEnds = false;

  constructor(seed: number, chance: Chance) {
    this.chance = chance;
    this.plan = makePlan(seed, chance);
    this.scheduler = new Scheduler(chance);
    this.conditions = new NetworkConditions(chance);
    this.recorder = new Recorder(this.scheduler, chance);
    this.secrets = new Secrets(this.recorder);
    const { startMs } = this.plan;
    this.network = new Network(this);
    this.counters = new CountersServer({ ...this.#parts(), startMs });
    this.ledger = new LedgerServer(this.#parts());
    this.clients = new Clients(this.scheduler, this.recorder);
    this.#keys = this.plan.workspaces.flatMap(({ keys }) => keys);
    this.#openWorkspaces();
    this.network.onExpiry = (generation) => {
      const who = this.fleet.ownerOf(generation);
      if (who !== null) this.ledger.knownBy.set(generation, who);
    };
    this.fleet = new Fleet({
      ...this.#parts(),
      network: this.network,
      counters: this.counters,
      ledger: this.ledger,
      disk: this.disk,
      clients: this.clients,
      models: this.plan.isMixed ? allModels : chatModels,
      secrets: this.secrets,
      plan: this.plan,
      onOtherPayer: (host) => this.onOtherPayer(host),
    });
  }

  someKey(): PlannedKey {
    return this.chance.pick(this.#keys);
  }

  /** Sends a random request, whose client may hang up. */
  sendOne(): void {
    const gateway = this.chance.pick(this.fleet.gateways);
    const leaves = this.chance.happens(0.1)
      ? { leavesMs: this.chance.between(1, 2_000) }
      : this.chance.happens(0.1)
        ? { leavesAfter: this.chance.between(0, 7) }
        : {};
    const key = this.someKey();
    const isEmbedding = this.plan.isMixed && this.chance.happens(0.2);
    const request = isEmbedding ? someEmbedding(this.chance) : someRequest(this.chance);
    const api = "inputs" in request ? null : (this.plan.agents?.api() ?? null);
    const sent = { key, gateway, request, ...(api && { api }), ...leaves };
    if (this.plan.repeats) this.plan.repeats.send(sent, this);
    else this.clients.send(sent);
  }

  injectFault(name: string, fault: () => void): void {
    if (this.#isHealed) return;
    this.faults++;
    this.recorder.note({ kind: "fault", name, phase: "begins" });
    fault();
  }

  /** Restores every part and the network. */
  heal(): void {
    this.#isHealed = true;
    this.onOtherPayer = () => {};
    this.conditions.rates = healthyRates;
    this.disk.full = null;
    this.counters.down.clear();
    this.#isRollingBack = false;
    for (const { server } of [this.counters, this.ledger, ...this.fleet.outside])
      Object.assign(server, { isDead: false, frozenUntil: 0 });
    for (const slot of this.fleet.slots) {
      slot.host.freeze(0);
      slot.host.connect(true);
      this.fleet.revive(slot);
    }
    this.recorder.note({ kind: "healed" });
  }

  /**
   * Skips the fault while the counters are being rebuilt from the gateways' reports: the loss of a gateway together with the
   * counters' contents is not covered by any promise.
   */
  disturbGateway(harm: (slot: FleetSlot) => void): void {
    this.mayLeak = true;
    if (this.counters.isWhole && !this.#isRollingBack) harm(this.chance.pick(this.fleet.of("gateway")));
  }

  /** Spares a gateway with settlements that a full disk has refused. An alarm reports these, and no promise covers their loss. */
  killGateway(downMs: number, victim?: FleetSlot): void {
    this.disturbGateway((one) => {
      const slot = victim ?? one;
      const { host, gateway } = slot;
      // A frozen process writes nothing when there is room again.
      const mayLack = this.#diskWasFull && (host.frozenUntil > this.scheduler.now || gateway?.isSpooling === false);
      const isInMemory = mayLack && gateway?.owes(this.ledger.ledger.charges);
      if (isInMemory) return;
      if (mayLack) this.hasUnspooledEnds = true;
      this.fleet.crash(slot, downMs);
    });
  }

  loseCounters(lose: (counters: CountersServer) => void): void {
    this.mayLeak = true;
    if (this.#canReport) lose(this.counters);
  }

  /**
   * Kills a gateway and empties the counters before its successor starts. A successor that a full disk delays may come too late for the
   * loads that wait for it.
   */
  loseBoth(slot: FleetSlot, { downMs, lostMs }: { downMs: number; lostMs: number }): void {
    if (!this.#canReport || !this.counters.isWhole || this.#diskWasFull) return;
    this.mayLeak = true;
    this.fleet.crash(slot, downMs);
    this.scheduler.plan(lostMs, null, () => {
      const others = this.fleet.of("gateway").filter((one) => one !== slot);
      const mayLose = !this.#isHealed && !this.#isRollingBack && !this.#hasLostDisk && !this.#diskWasFull;
      if (mayLose && others.every(({ host }) => host.isReachable)) this.counters.wipe();
    });
  }

  /** @returns whether the counters, or a part of them, will be again after `ms` what they are now */
  rollBack(ms: number, remember = (counters: CountersServer) => counters.remember()): boolean {
    this.mayLeak = true;
    if (!this.#canReport) return false;
    this.#isRollingBack = true;
    const restore = remember(this.counters);
    this.scheduler.plan(ms, null, () => {
      if (!this.#isHealed) restore();
      this.#isRollingBack = false;
    });
    return true;
  }

  freeze(host: Host, ms: number): void {
    this.frozenMsMax = Math.max(this.frozenMsMax, ms);
    host.freeze(this.scheduler.now + ms);
  }

  disconnect(host: Host, ms: number): void {
    host.connect(false);
    this.scheduler.plan(ms, null, () => host.connect(true));
  }

  killWorkers(ms: number): void {
    for (const slot of this.fleet.of("admission")) this.fleet.crash(slot, ms);
  }

  /** Takes a server down. From then on nothing may be admitted; for the database, only after all key records have expired. */
  close(name: string, { server, ms }: { server: "counters" | "ledger"; ms: number }): void {
    const harmed = this[server].server;
    if (harmed.isDead) return;
    harmed.isDead = true;
    this.recorder.note({ kind: "fault", name, phase: "begins", closesAfterMs: server === "ledger" ? 30_000 : 0 });
    this.scheduler.plan(ms, null, () => {
      if (this.#isHealed) return;
      this.recorder.note({ kind: "fault", name, phase: "ends" });
      harmed.isDead = false;
    });
  }

  freezeCounters(ms: number): void {
    this.frozenMsMax = Math.max(this.frozenMsMax, ms);
    this.counters.server.frozenUntil = this.scheduler.now + ms;
  }

  step(ms: number): void {
    this.counters.steppedMs += ms;
    this.recorder.note({ kind: "stepped", ms });
  }

  /** Loses a gateway with its disk, so that no process has its open generations. Spares one with settlements that only its disk has. */
  loseGateway(downMs: number): void {
    this.disturbGateway((slot) => {
      const { gateway } = slot;
      if (slot.host.isDead || !gateway || gateway.owes(this.ledger.ledger.charges)) return;
      this.#hasLostDisk = true;
      this.fleet.crash(slot, downMs);
      this.disk.lose(gateway.folder);
    });
  }

  /** Disconnects a gateway until its holds have expired by the counters' clock. Its generations are then charged late. */
  outlive(): void {
    this.disturbGateway(({ host }) => {
      this.disconnect(host, 45_000);
      this.scheduler.plan(1_000, null, () => this.step(1_300_000));
    });
  }

  loseEvents(ms: number): void {
    this.recorder.note({ kind: "events lost", generations: this.network.loseEvents(ms) });
  }

  fillDisk(bytesLeft: number, ms: number): void {
    this.disk.full = { bytesLeft };
    this.#diskWasFull = true;
    this.scheduler.plan(ms, null, () => void (this.disk.full = null));
  }

  addCredit(workspace: string, amount: bigint): void {
    this.ledger.credit(workspace, amount);
    this.chance.pick(this.fleet.gateways).refresh(workspace);
  }

  revoke({ hash, record }: PlannedKey): void {
    if (!this.ledger.records.delete(hash)) return;
    this.recorder.note({ kind: "revoked", key: record.id });
    this.#notify();
  }

  changeKey({ hash }: PlannedKey, fields: Partial<KeyRecord>): void {
    const present = this.ledger.records.get(hash);
    if (!present) return;
    this.#record(hash, { ...present, ...fields });
    this.#notify();
  }

  /** Stores, replaces, disables or switches off own keys, and changes whether calls may continue on credit. */
  changeOwnKeys(workspace: PlannedWorkspace): void {
    const fields = this.secrets.issueAll(workspace.id, someOwnKeys(this.chance));
    for (const key of workspace.keys) this.changeKey(key, fields);
  }

  changeWorkspace({ keys }: PlannedWorkspace, workspaceLimit: bigint | null): void {
    for (const key of keys) this.changeKey(key, { workspaceLimit });
  }

  /** Adds an unused key to the witness's workspace, with a rate that is quickly used up. */
  addProbedKey(): PlannedKey {
    const { record } = this.plan.witness;
    const key = keyOf({ id: `${record.id}-p`, workspace: record.workspace, requestsPerMinute: 3 });
    this.#record(key.hash, key.record);
    return key;
  }

  /** Notifies of a changed key, as the control API does. The notification may be lost. */
  #notify(): void {
    if (this.chance.happens(0.5)) return;
    this.network.busOf(this.chance.pick(this.fleet.of("gateway")).host).broadcast("records-changed");
  }

  get #canReport(): boolean {
    return this.fleet.canReport && !this.#isRollingBack && !this.#hasLostDisk;
  }

  #parts() {
    const { scheduler, conditions, recorder, chance } = this;
    return { scheduler, conditions, recorder, chance };
  }

  #openWorkspaces(): void {
    const { workspaces, witness } = this.plan;
    const none = { providers: [], fallback: false };
    const rich = { id: witness.record.workspace, credit: 1_000_000_000n, keys: [witness], budgets: noBudgets, own: none };
    for (const { id, credit, keys, budgets, own } of [...workspaces, rich]) {
      this.ledger.ledger.open(id, credit);
      this.recorder.note({ kind: "credited", workspace: id, amount: credit });
      const ownKeys = this.plan.isMixed ? this.secrets.issueAll(id, own) : {};
      for (const { record } of keys) this.ledger.ledger.owners.set(record.id, memberOf(id));
      for (const [place, { hash, record }] of keys.entries())
        this.#record(hash, { ...record, ...ownKeys, ...budgetFields({ id, budgets }, place) });
    }
  }

  #record(hash: string, record: KeyRecord): void {
    const { id: key, workspace } = record;
    this.ledger.records.set(hash, record);
    this.recorder.note({ kind: "rate", key, requestsPerMinute: record.requestsPerMinute ?? 60 });
    this.recorder.note({ kind: "spend limit", workspace, key, limit: record.monthlyLimit });
    this.recorder.note({ kind: "spend limit", workspace, key: null, limit: record.workspaceLimit });
    noteBudgets(record, { owners: this.ledger.ledger.owners, recorder: this.recorder });
  }
}
