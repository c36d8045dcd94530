/** A verification as it goes: `{"checked": {…}}` for each invariant, then `{"result": {…}}` or `{"error": {…}}`, a line each. */
import { verifyLedger } from "../metering/verify.ts";
import type { ControlParts } from "./parts.ts";
import { refuse } from "./refuse.ts";

export function streamVerification({ sql, log }: Pick<ControlParts, "sql" | "log">): Response {
  const lines = new TransformStream<Uint8Array, Uint8Array>();
  const writer = lines.writable.getWriter();
  const encoder = new TextEncoder();
  /** A client that has left is no reason to stop or to fail. */
  const write = (line: unknown): void => void writer.write(encoder.encode(`${JSON.stringify(line)}\n`)).catch(() => {});
  verifyLedger({ sql, onChecked: (checked) => write({ checked }) })
    .then((result) => write({ result }))
    .catch(async (error: unknown) => write(await refuse(error, log).json()))
    .finally(() => writer.close().catch(() => {}));
  return new Response(lines.readable, { headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" } });
}
