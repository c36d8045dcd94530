/** What one node of a Redis Cluster says about all: CLUSTER NODES, https://redis.io/docs/latest/commands/cluster-nodes/. */

export interface ReportedNode {
  id: string;
  /** Host and port, an IPv6 address in brackets. */
  address: string;
  isMaster: boolean;
  /** Most masters did not reach it: a replica may take its place. */
  hasFailed: boolean;
  /** Of its claim to its slots, which a newer claim overrides. */
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
 * @throws Error when it is no such report
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

/** Such as `127.0.0.1:7000@17000,redis-1.example`; the host is empty where a node does not know its own. */
function addressIn(endpoint: string, { asked, encrypted }: { asked: string; encrypted: boolean }): string {
  const [, host = "", port = ""] = /^(.*):(\d+)@/.exec(endpoint) ?? [];
  const [, name = ""] = /^[^,]*,([^,]*)/.exec(endpoint) ?? [];
  if (encrypted && name !== "") return `${name}:${port}`;
  if (host === "") return `${asked.replace(/:\d+$/, "")}:${port}`;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A slot or a range; those in brackets are on their way and counted at the node that still has them. */
function slotsIn(word: string): [first: number, last: number][] {
  const [, first = "", last = first] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? [];
  return first === "" ? [] : [[Number(first), Number(last)]];
}
