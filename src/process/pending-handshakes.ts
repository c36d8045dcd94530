/** Connections to a port of this machine with a pending handshake, as Linux lists them: proc(5), /proc/net/tcp. */
import { readFile } from "node:fs/promises";

const synReceived = "03";

/** The other ends as the system writes them, for comparison only. null if the system does not list them. */
export async function pendingHandshakes(port: number): Promise<string[] | null> {
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "latin1").catch(() => null)));
  if (tables[0] === null) return null;
  const local = port.toString(16).toUpperCase().padStart(4, "0");
  const row = new RegExp(`^ *\\d+: [0-9A-F]+:${local} ([0-9A-F]+:[0-9A-F]{4}) ${synReceived} `, "gm");
  return tables.flatMap((table) => [...(table ?? "").matchAll(row)].map(([, other = ""]) => other));
}
