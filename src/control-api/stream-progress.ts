/** A long act as it goes: `{"checked": {…}}` for each part, then `{"result": {…}}` or `{"error": {…}}`, a line each. */
import type { Logger } from "../kernel/log.ts";
import { errorResponse } from "./error-response.ts";

const ndjson = "application/x-ndjson";

/** Whether the client wants to see it go. */
export function wantsProgress(request: Request): boolean {
  return request.headers.get("accept") === ndjson;
}

/** @param act tells each part as it ends, and resolves with the result */
export function streamProgress(act: (tell: (part: unknown) => void) => Promise<unknown>, log: Logger): Response {
  const lines = new TransformStream<Uint8Array, Uint8Array>();
  const writer = lines.writable.getWriter();
  const encoder = new TextEncoder();
  /** A client that has left is no reason to stop or to fail. */
  const write = (line: unknown): void => void writer.write(encoder.encode(`${JSON.stringify(line)}\n`)).catch(() => {});
  act((checked) => write({ checked }))
    .then((result) => write({ result }))
    .catch(async (error: unknown) => write(await errorResponse(error, log).json()))
    .finally(() => writer.close().catch(() => {}));
  return new Response(lines.readable, {
    headers: { "content-type": ndjson, "cache-control": "no-store", "x-content-type-options": "nosniff" },
  });
}
