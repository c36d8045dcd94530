/** Connections to a port of this machine whose handshake is under way, as Linux lists them: proc(5), /proc/net/tcp. */
import { readFile } from "node:fs/promises";

const synReceived = "03";

/** The other ends, in the system's words: only equality means something. null where the system does not say. */
export async function pendingHandshakes(port: number): Promise<string[] | null> {
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "latin1").catch(() => null)));
  if (tables[0] === null) return null;
  const local = port.toString(16).toUpperCase().padStart(4, "0");
  const row = new RegExp(`^ *\\d+: [0-9A-F]+:${local} ([0-9A-F]+:[0-9A-F]{4}) ${synReceived} `, "gm");
  return tables.flatMap((table) => [...(table ?? "").matchAll(row)].map(([, other = ""]) => other));
}
