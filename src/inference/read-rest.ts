/**
 * Makes an answer readable that is given before the request's body has arrived. A server that keeps the connection reads on
 * by itself (Bun 1.4, measured). Asked to close it, Bun closes at once: the kernel then answers the bytes under way with a
 * reset, and many clients (Python's urllib, nginx) lose the answer. There, and only there, the rest is read first.
 */
import { withDeadline, type Clock } from "../kernel/clock.ts";
import { refusedBodyMsMax, serverBodyBytesMax } from "../limits/constants.ts";
import { BodyReader } from "./body-reader.ts";

/**
 * Call before a refusal that precedes the reading of the body; does nothing once it was read. Takes at most 5 s; never rejects.
 * @param reader the one that holds the body, where there is one
 */
export async function readRest(request: Request, clock: Clock, reader: BodyReader | null = null): Promise<void> {
  if (request.body === null || (reader === null && (request.bodyUsed || request.body.locked))) return;
  const rest = reader ?? new BodyReader(request.body);
  if (closesAfterwards(request)) {
    await withDeadline(clock, refusedBodyMsMax, "The rest of the body", rest.skip(serverBodyBytesMax)).catch(() => {});
  }
  rest.discard();
}

function closesAfterwards(request: Request): boolean {
  const connection = request.headers.get("connection") ?? "";
  return connection
    .toLowerCase()
    .split(",")
    .some((option) => option.trim() === "close");
}
