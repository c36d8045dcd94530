/** A master of a Redis Cluster counts only while none can have taken its place. */
import { beforeEach, expect, test } from "bun:test";
import { clusterLeaseMs, clusterTakeoverMs } from "../../../src/backing/limits.ts";
import { ClusterView, readNodesReport, type NodesReport, clusterSlot } from "../../../src/backing/redis/cluster-view.ts";

const slots: Record<string, string> = { a: "0-5460", b: "5461-10922", c: "10923-16383" };

interface Line {
  id: string;
  flags: string;
  epoch: number;
  slots: string;
}

const masters: Line[] = Object.entries(slots).map(([id, some], place) => ({
  id,
  flags: "master",
  epoch: place + 1,
  slots: some,
}));

/** What a node says; its own line is marked. */
function said(by: string, lines: Line[]): NodesReport {
  const text = lines.map(({ id, flags, epoch, slots: some }) => {
    const all = id === by ? `myself,${flags}` : flags;
    return `${id} 10.0.0.1:${7000 + id.charCodeAt(0)}@17000 ${all} - 0 0 ${epoch} connected ${some}`;
  });
  return readNodesReport(text.join("\n"), { asked: "10.0.0.1:1", encrypted: false });
}

const changed = (id: string, change: Partial<Line>): Line[] =>
  masters.map((line) => (line.id === id ? { ...line, ...change } : line));

/** Node a failed, and d, its replica, has its slots. */
const promoted: Line[] = [
  ...changed("a", { flags: "master,fail", slots: "" }),
  { id: "d", flags: "master", epoch: 7, slots: slots["a"] ?? "" },
];

let view: ClusterView;
beforeEach(() => {
  view = new ClusterView();
  view.update(
    ["a", "b", "c"].map((by) => said(by, masters)),
    0,
  );
});

/** The master that may be asked for the slot 0; null: none may. */
function ownerAt(now: number): string | null {
  const owner = view.ownerOf(0);
  return owner !== null && view.isUsable(owner, now) ? owner.id : null;
}

test("each slot has the master that claims it, as long as most masters lately said that it has not failed", () => {
  expect(ownerAt(clusterLeaseMs - 1)).toBe("a");
  expect(view.ownerOf(16_383)?.id).toBe("c");
  expect(view.isWhole(0)).toBe(true);
  expect(ownerAt(clusterLeaseMs)).toBe(null);
});

test("a master that most others do not see is not used for longer than its lease, whatever it says itself", () => {
  view.update(
    [said("a", masters), said("b", changed("a", { flags: "master,fail" })), said("c", changed("a", { flags: "master,fail" }))],
    1_000,
  );
  view.update([said("a", masters)], 1_500);
  expect(ownerAt(clusterLeaseMs - 1)).toBe("a");
  expect(ownerAt(clusterLeaseMs)).toBe(null);
});

test("a master stays in use while another one does not answer", () => {
  view.update(
    ["b", "c"].map((by) => said(by, masters)),
    1_900,
  );
  const owner = view.ownerOf(16_383);
  expect(owner && view.isUsable(owner, 1_900 + clusterLeaseMs - 1)).toBe(true);
});

test("a replica that took the place of a failed master is used when nobody asks that master any more", () => {
  const ask = (now: number) =>
    view.update(
      ["b", "c", "d"].map((by) => said(by, promoted)),
      now,
    );
  expect(ask(1_000)).toBe(true);
  expect(ownerAt(1_000)).toBe(null);
  expect(ask(1_000 + clusterTakeoverMs)).toBe(false);
  expect(ownerAt(1_000 + clusterTakeoverMs - 1)).toBe(null);
  expect(ownerAt(1_000 + clusterTakeoverMs)).toBe("d");
});

test("a failed master that is back and knows nothing of its successor does not get its slots again", () => {
  view.update(
    ["b", "c", "d"].map((by) => said(by, promoted)),
    1_000,
  );
  view.update([said("a", masters), ...["b", "c", "d"].map((by) => said(by, promoted))], 1_000 + clusterTakeoverMs);
  expect(ownerAt(1_000 + clusterTakeoverMs)).toBe("d");
});

test("a replica that a person made the master, while the old one lived, is used at once", () => {
  const switched: Line[] = [
    ...changed("a", { flags: "slave", slots: "", epoch: 7 }),
    { id: "d", flags: "master", epoch: 7, slots: slots["a"] ?? "" },
  ];
  view.update(
    ["b", "c", "d"].map((by) => said(by, switched)),
    1_000,
  );
  expect(ownerAt(1_000)).toBe("d");
});

test("a replica that a person made the master is used at once although another master failed long ago", () => {
  const ask = (lines: Line[], now: number) =>
    view.update(
      ["b", "c", "d"].map((by) => said(by, lines)),
      now,
    );
  ask(promoted, 1_000);
  const switched: Line[] = [
    ...promoted.map((line) => (line.id === "b" ? { ...line, flags: "slave", slots: "", epoch: 8 } : line)),
    { id: "e", flags: "master", epoch: 8, slots: slots["b"] ?? "" },
  ];
  view.update(
    ["c", "d", "e"].map((by) => said(by, switched)),
    1_500,
  );
  const owner = view.ownerOf(6_000);
  expect([owner?.id, owner && view.isUsable(owner, 1_500)]).toEqual(["e", true]);
});

test("a slot that moved is at the node with the newer claim, although others do not know it yet", () => {
  const moved = [
    { id: "a", flags: "master", epoch: 1, slots: "1-5460" },
    { id: "b", flags: "master", epoch: 8, slots: "0 5461-10922" },
    { id: "c", flags: "master", epoch: 3, slots: slots["c"] ?? "" },
  ];
  view.update([said("a", moved), said("b", moved), said("c", masters)], 1_000);
  expect(view.ownerOf(0)?.id).toBe("b");
  expect(view.ownerOf(1)?.id).toBe("a");
});

test("addresses are those that nodes announce: names over TLS where they have some, and the host that was asked where one knows none", () => {
  const text = [
    "a :7000@17000 myself,master - 0 0 1 connected 0-5 [6->-b]",
    "b 2001:db8::7:7001@17001,redis-2.example,shard-id=1 slave a 0 0 1 connected",
  ].join("\n");
  const addresses = (encrypted: boolean) => {
    const { by, nodes } = readNodesReport(`txt:${text}\n`, { asked: "redis.example:6379", encrypted });
    expect(by).toBe("a");
    expect(nodes.get("a")?.slots).toEqual([[0, 5]]);
    return [...nodes.values()].map(({ address }) => address);
  };
  expect(addresses(false)).toEqual(["redis.example:7000", "[2001:db8::7]:7001"]);
  expect(addresses(true)).toEqual(["redis.example:7000", "redis-2.example:7001"]);
});

test("a workspace lies in the slot that Redis Cluster computes", () => {
  expect(clusterSlot("123456789")).toBe(0x31c3);
  expect(clusterSlot("user1000")).toBe(3443);
  expect(clusterSlot("")).toBe(0);
});
