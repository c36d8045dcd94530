/** Reads a stream's body from its last event to its end, which is due at once, so that the connection can carry the next call. */
import { streamTailBytesMax, streamTailMs } from "../../limits.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { sharedTimerOf, type SharedTimer, type TimerListener } from "./shared-timer.ts";
import type { BytesReceiver } from "./transport.ts";
import type { UpstreamCall } from "./upstream-call.ts";

/** Closes the connection if the end does not come soon, or too much comes before it. */
export function readTail(upstream: UpstreamCall, clock: Clock): void {
  new StreamTail(upstream, clock).read();
}

class StreamTail implements BytesReceiver, TimerListener {
  readonly #upstream: UpstreamCall;
  readonly #timer: SharedTimer;
  readonly #dueBy: number;
  #bytes = 0;
  #over = false;

  constructor(upstream: UpstreamCall, clock: Clock) {
    this.#upstream = upstream;
    this.#timer = sharedTimerOf(clock);
    this.#dueBy = clock.monotonic() + streamTailMs;
  }

  read(): void {
    this.#timer.add(this);
    this.#upstream.read(this);
  }

  take(bytes: Uint8Array | null): void {
    if (this.#over) return;
    this.#bytes += bytes?.length ?? 0;
    if (bytes === null) this.#end(() => this.#upstream.finished());
    else if (this.#bytes > streamTailBytesMax) this.fail();
    else this.#upstream.read(this);
  }

  fail(): void {
    this.#end(() => this.#upstream.close());
  }

  look(nowMs: number): void {
    if (nowMs >= this.#dueBy) this.fail();
  }

  #end(act: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer.delete(this);
    act();
  }
}
