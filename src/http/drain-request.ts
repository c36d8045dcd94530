/**
 * Reads what is left of a body that is refused, before the answer: a server that has answered reads on by itself, and as fast as it
 * comes (Bun 1.4, measured). Twenty clients that were refused and went on sending made it read 700 MB/s. Asked to close the
 * connection instead, Bun closes at once: the kernel then answers the bytes under way with a reset, and many clients (Python's
 * urllib, nginx) lose the answer.
 */
import { withDeadline, type Clock } from "../kernel/clock.ts";
import { refusedBodyIdleMs, refusedBodyMsMax, refusedBodySmallBytes } from "./limits.ts";
import { largeBodyThrottle } from "./byte-throttle.ts";
import { BodyReader } from "./body-reader.ts";
import { declaredBytes } from "./declared-bytes.ts";

/**
 * Call before a refusal that precedes the reading of the body; does nothing once it was read. Takes at most 5 s; never rejects.
 * @param reader the one that holds the body, where there is one
 */
export async function drainRequest(request: Request, clock: Clock, reader: BodyReader | null = null): Promise<void> {
  if (request.body === null || (reader === null && (request.bodyUsed || request.body.locked))) return;
  const rest = reader ?? new BodyReader(request.body);
  const closes = closesAfterwards(request);
  if (closes || mayBeLarge(request)) {
    const skipping = skip(rest, clock, closes ? refusedBodyMsMax : refusedBodyIdleMs);
    await withDeadline(clock, refusedBodyMsMax, "The rest of the body", skipping).catch(() => {});
  }
  rest.discard();
}

/** The server takes no more than its own bound of a body. A sender that sends nothing for a second is likely to wait for its answer. */
async function skip(rest: BodyReader, clock: Clock, idleMs: number): Promise<void> {
  for (;;) {
    const piece = await withDeadline(clock, idleMs, "The rest of the body", rest.next());
    if (piece === null) return;
    await largeBodyThrottle.read(piece.length);
  }
}

function mayBeLarge(request: Request): boolean {
  return request.headers.has("transfer-encoding") || (declaredBytes(request) ?? 0) > refusedBodySmallBytes;
}

function closesAfterwards(request: Request): boolean {
  const connection = request.headers.get("connection") ?? "";
  return connection
    .toLowerCase()
    .split(",")
    .some((option) => option.trim() === "close");
}
