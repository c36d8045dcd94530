/**
 * Reads the rest of a refused body before the answer. After an answer the server itself would read on, as fast as bytes arrive:
 * twenty refused clients that kept sending made Bun 1.4 read 700 MB/s (measured). If the answer closes the connection, Bun closes it
 * at once; the kernel then resets it while bytes still arrive, and many clients (Python's urllib, nginx) lose the answer.
 */
import { withDeadline, type Clock } from "../kernel/clock.ts";
import { refusedBodyIdleMs, refusedBodyMsMax, refusedBodySmallBytes } from "./limits.ts";
import { largeBodyThrottle } from "./byte-throttle.ts";
import { BodyReader } from "./body-reader.ts";
import { declaredBytes } from "./declared-bytes.ts";

/**
 * Call before refusing a request whose body may be unread; does nothing once it was read. Takes at most 5 s; never rejects.
 * @param reader the reader that holds the body, if there is one
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

/** The server bounds the whole body. A sender that is silent for a second probably waits for its answer. */
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
