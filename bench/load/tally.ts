/** The result of a load: how requests ended, and how long they took. */
import { Histogram, type CurvePoint, type Summary } from "./histogram.ts";

export interface Result {
  mode: string;
  /** The length of the measured part. */
  seconds: number;
  /** Requests with a complete answer within the measured part. */
  succeeded: number;
  failed: number;
  perSecond: number;
  statuses: Record<string, number>;
  /** Counts of error codes of answers and failed streams, and of connection errors. */
  codes: Record<string, number>;
  /** All ended requests, including those of the warm-up. */
  endedInAll: number;
  failedInAll: number;
  latencyMs: Summary | null;
  latencyDoublings: { upToMs: number; count: number }[];
  latencyCurve: CurvePoint[];
  /** From the start of the latency to the stream's first event, for all streams including those of the warm-up. */
  firstEventMs: Summary | null;
  /** The time between two events of a stream. */
  gapMs: Summary | null;
  /** From the provider's sending of an event to its arrival, if the event has its time. */
  eventLatenessMs: Summary | null;
  eventLatenessCurve: CurvePoint[];
  /** The number of stream events within the measured part. */
  events: number;
  /** How late requests were sent, because of a timer or the lack of a free connection. It is part of the latency. Only in an open loop. */
  sendLatenessMs: Summary | null;
  /** The highest number of open requests. */
  underWayMax: number;
  /** When the last request ended, in milliseconds since 1970. */
  lastEndedAt: number;
}

export class Tally {
  readonly latency = new Histogram();
  readonly firstEvent = new Histogram();
  readonly gap = new Histogram();
  readonly eventLateness = new Histogram();
  readonly sendLateness = new Histogram();
  readonly #statuses = new Map<string, number>();
  readonly #codes = new Map<string, number>();
  events = 0;
  succeeded = 0;
  failed = 0;

  /** @param outcome `code` is null for a complete answer; `status` is 0 without an answer */
  count({ status, code }: { status: number; code: string | null }): void {
    add(this.#statuses, status === 0 ? "none" : String(status));
    if (code !== null) add(this.#codes, code);
    if (code === null) this.succeeded++;
    else this.failed++;
  }

  result(run: Pick<Result, "mode" | "seconds" | "underWayMax" | "endedInAll" | "failedInAll" | "lastEndedAt">): Result {
    return {
      ...run,
      succeeded: this.succeeded,
      failed: this.failed,
      perSecond: Number((this.succeeded / run.seconds).toFixed(1)),
      statuses: Object.fromEntries(this.#statuses),
      codes: Object.fromEntries(this.#codes),
      latencyMs: this.latency.summary(),
      latencyDoublings: this.latency.doublings(),
      latencyCurve: this.latency.curve(),
      firstEventMs: this.firstEvent.summary(),
      gapMs: this.gap.summary(),
      eventLatenessMs: this.eventLateness.summary(),
      eventLatenessCurve: this.eventLateness.curve(),
      events: this.events,
      sendLatenessMs: this.sendLateness.summary(),
    };
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
