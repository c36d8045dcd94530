/**
 * Which master of a Redis Cluster has which slots, from the reports of the nodes, and since when that is certain. A master that lost the
 * others continues for a moment, while its replica may already have taken its place. Both would admit, each without the other's holds. So a
 * master counts only for a while after most masters said that it has not failed: none of its replicas can have been elected before that,
 * since an election needs most masters to say the opposite. A master that replaced a failed one counts only when every process that knew
 * the old one has stopped asking it. A workspace whose master is not certain gets no decision; the others go on.
 */
import { clusterLeaseMs, clusterTakeoverMs } from "../limits.ts";

export interface SlotOwner {
  id: string;
  address: string;
  /** In monotonic milliseconds: when most masters were asked, it among them, who then said that it is a master. */
  confirmedAt: number;
  /** When others have stopped asking the master that it replaced. */
  usableFrom: number;
}

export class ClusterView {
  readonly #owners = new Map<string, SlotOwner>();
  #bySlot: (SlotOwner | null)[] = [];
  /** Nodes that had no slots at the last update, so no node can have replaced them since. */
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
   * @returns whether different masters now have slots
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

  /** Whether a failed master, which may not know it yet, had slots that this one has now: its claim is older. */
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

/** The last report about each node, the newest claims to slots last. A node knows its own slots before the others do. */
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

// Reports: CLUSTER NODES, https://redis.io/docs/latest/commands/cluster-nodes/

interface ReportedNode {
  id: string;
  /** Host and port, an IPv6 address in brackets. */
  address: string;
  isMaster: boolean;
  /** Most masters did not reach it: a replica may take its place. */
  hasFailed: boolean;
  /** The epoch of its claim to its slots, which a newer claim overrides. */
  epoch: number;
  /** First and last of each range. */
  slots: [first: number, last: number][];
}

export interface NodesReport {
  /** The node that says it. */
  by: string;
  nodes: Map<string, ReportedNode>;
}

/**
 * @param asked the address of the node that said it, which may not know its own host
 * @param encrypted whether nodes are reached by names that a certificate can hold, where they announce one
 * @throws Error when it is not such a report
 */
export function readNodesReport(text: string, { asked, encrypted }: { asked: string; encrypted: boolean }): NodesReport {
  const nodes = new Map<string, ReportedNode>();
  let by: string | null = null;
  // A text in version 3 of the protocol may begin with its format.
  for (const line of text.replace(/^txt:/, "").split("\n")) {
    const [id = "", endpoint = "", flagList = "", , , , epoch = "", , ...slots] = line.trim().split(" ");
    const flags = flagList.split(",");
    if (id === "" || flags.includes("noaddr") || flags.includes("handshake")) continue;
    if (flags.includes("myself")) by = id;
    nodes.set(id, {
      id,
      address: addressIn(endpoint, { asked, encrypted }),
      isMaster: flags.includes("master"),
      hasFailed: flags.includes("fail"),
      epoch: Number(epoch),
      slots: slots.flatMap(slotsIn),
    });
  }
  if (by === null) throw new Error("Cannot read the nodes of a Redis Cluster: none is the one that was asked");
  return { by, nodes };
}

/** The slot of a key in a Redis Cluster: CRC16 (XMODEM) of its tag, modulo 16,384. Source: redis.io, cluster specification. */
const slotCount = 16_384;
const polynomial = 0x1021;

const remainders = Uint16Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 8;
  for (let bit = 0; bit < 8; bit++) remainder = (remainder & 0x8000 ? (remainder << 1) ^ polynomial : remainder << 1) & 0xffff;
  return remainder;
});

/** @param tag the text between the braces of the key */
export function clusterSlot(tag: string): number {
  let remainder = 0;
  for (const byte of Buffer.from(tag)) remainder = ((remainder << 8) ^ (remainders[(remainder >> 8) ^ byte] ?? 0)) & 0xffff;
  return remainder % slotCount;
}

/** Such as `127.0.0.1:7000@17000,redis-1.example`; the host is empty if a node does not know its own. */
function addressIn(endpoint: string, { asked, encrypted }: { asked: string; encrypted: boolean }): string {
  const [, host = "", port = ""] = /^(.*):(\d+)@/.exec(endpoint) ?? [];
  const [, name = ""] = /^[^,]*,([^,]*)/.exec(endpoint) ?? [];
  if (encrypted && name !== "") return `${name}:${port}`;
  if (host === "") return `${asked.replace(/:\d+$/, "")}:${port}`;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A slot or a range; slots in brackets are moving and count for the node that still has them. */
function slotsIn(word: string): [first: number, last: number][] {
  const [, first = "", last = first] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? [];
  return first === "" ? [] : [[Number(first), Number(last)]];
}
