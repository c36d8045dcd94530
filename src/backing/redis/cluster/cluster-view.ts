/**
 * Which master has which slots, from the reports of the nodes, and since when that is certain.
 *
 * While a master that lost the others goes on for a moment, its replica may have taken its place. Both would admit, each without the
 * holds of the other. So a master counts only for a while after most masters said that it has not failed: none of its replicas can have
 * been elected before that, for an election needs most masters to say the opposite. And one that took the place of a failed master
 * counts only when every process that knew the other has stopped asking it.
 */
import { clusterLeaseMs, clusterTakeoverMs } from "../../limits.ts";
import { slotCount } from "./cluster-slot.ts";
import type { NodesReport, ReportedNode } from "./nodes-report.ts";

export interface SlotOwner {
  id: string;
  address: string;
  /** In monotonic milliseconds: when most masters were asked, it among them, who then said that it is a master. */
  confirmedAt: number;
  /** When others have stopped asking the master whose place it took. */
  usableFrom: number;
}

export class ClusterView {
  readonly #owners = new Map<string, SlotOwner>();
  #bySlot: (SlotOwner | null)[] = [];
  /** Nodes that had no slots at the last update, so that none can have taken their place since. */
  #without = new Set<string>();

  /** The masters that have slots. */
  get owners(): Iterable<SlotOwner> {
    return this.#owners.values();
  }

  ownerOf(slot: number): SlotOwner | null {
    return this.#bySlot[slot] ?? null;
  }

  /** @param now in monotonic milliseconds */
  isUsable({ confirmedAt, usableFrom }: SlotOwner, now: number): boolean {
    return now < confirmedAt + clusterLeaseMs && now >= usableFrom;
  }

  /** Whether the masters of all slots are known and certain. */
  isWhole(now: number): boolean {
    return this.#bySlot.length === slotCount && this.#bySlot.every((owner) => owner !== null && this.isUsable(owner, now));
  }

  /**
   * @param reports of all nodes that answered; without any, all stays as it was
   * @param askedAt when the first was asked, in monotonic milliseconds
   * @returns whether other masters than before have slots
   */
  update(reports: readonly NodesReport[], askedAt: number): boolean {
    if (reports.length === 0) return false;
    const newest = newestLines(reports);
    const bySlot = this.#claimSlots(newest.filter(hasSlots), { reports, askedAt });
    this.#without = new Set(newest.filter((node) => !hasSlots(node)).map(({ id }) => id));
    const owners = new Set(bySlot);
    let isChanged = false;
    for (const owner of this.#owners.values()) {
      if (owners.has(owner)) continue;
      this.#owners.delete(owner.id);
      isChanged = true;
    }
    for (const owner of owners) {
      if (owner === null) continue;
      isChanged ||= this.#owners.get(owner.id) !== owner;
      this.#owners.set(owner.id, owner);
    }
    this.#bySlot = bySlot;
    this.#confirm(reports, askedAt);
    return isChanged;
  }

  /** A newer claim overrides older ones. */
  #claimSlots(
    claims: ReportedNode[],
    { reports, askedAt }: { reports: readonly NodesReport[]; askedAt: number },
  ): (SlotOwner | null)[] {
    const bySlot = Array.from<SlotOwner | null>({ length: slotCount }).fill(null);
    for (const claim of claims) {
      const { id, address, slots } = claim;
      const owner = this.#owners.get(id) ?? { id, address, confirmedAt: -Infinity, usableFrom: -Infinity };
      if (!this.#owners.has(id) && this.#tookOver(claim, reports)) owner.usableFrom = askedAt + clusterTakeoverMs;
      owner.address = address;
      for (const [first, last] of slots) bySlot.fill(owner, first, last + 1);
    }
    return bySlot;
  }

  /** Whether a master that failed, and may not know it yet, had slots of this one: its claim is older. */
  #tookOver(claim: ReportedNode, reports: readonly NodesReport[]): boolean {
    const mayHaveLost = ({ id, isMaster, hasFailed, epoch }: ReportedNode): boolean =>
      isMaster && hasFailed && epoch < claim.epoch && !this.#without.has(id);
    return reports.some(({ nodes }) => [...nodes.values()].some(mayHaveLost));
  }

  #confirm(reports: readonly NodesReport[], askedAt: number): void {
    const voters = reports.filter(({ by }) => this.#owners.has(by));
    for (const owner of this.#owners.values()) {
      const agreeing = voters.filter(({ nodes }) => {
        const node = nodes.get(owner.id);
        return node !== undefined && node.isMaster && !node.hasFailed;
      });
      const isSelfSure = agreeing.some(({ by }) => by === owner.id);
      if (isSelfSure && agreeing.length * 2 > this.#owners.size) owner.confirmedAt = askedAt;
    }
  }
}

/** Of each node what is known last, the newest claims to slots last. A node knows its own slots before the others do. */
function newestLines(reports: readonly NodesReport[]): ReportedNode[] {
  const lines = new Map<string, ReportedNode>();
  for (const { by, nodes } of reports) {
    for (const node of nodes.values()) {
      const known = lines.get(node.id);
      const isNewer = known === undefined || node.epoch > known.epoch || (node.epoch === known.epoch && node.id === by);
      if (isNewer) lines.set(node.id, node);
    }
  }
  return [...lines.values()].toSorted((a, b) => a.epoch - b.epoch);
}

function hasSlots({ isMaster, slots }: ReportedNode): boolean {
  return isMaster && slots.length > 0;
}
