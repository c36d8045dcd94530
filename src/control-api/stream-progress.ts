/** Streams the progress of a long operation: `{"checked": {…}}` for each part, then `{"result": {…}}` or `{"error": {…}}`, one line each. */
import type { Logger } from "../kernel/log.ts";
import { errorResponse } from "./error-response.ts";

const ndjson = "application/x-ndjson";

/** Whether the client asked for progress. */
export function wantsProgress(request: Request): boolean {
  return request.headers.get("accept") === ndjson;
}

/** @param act reports each part as it ends, and resolves with the result */
export function streamProgress(act: (report: (part: unknown) => void) => Promise<unknown>, log: Logger): Response {
  const lines = new TransformStream<Uint8Array, Uint8Array>();
  const writer = lines.writable.getWriter();
  const encoder = new TextEncoder();
  /** The operation continues if the client disconnects. */
  const write = (line: unknown): void => void writer.write(encoder.encode(`${JSON.stringify(line)}\n`)).catch(() => {});
  act((checked) => write({ checked }))
    .then((result) => write({ result }))
    .catch(async (error: unknown) => write(await errorResponse(error, log).json()))
    .finally(() => writer.close().catch(() => {}));
  return new Response(lines.readable, {
    headers: { "content-type": ndjson, "cache-control": "no-store", "x-content-type-options": "nosniff" },
  });
}
