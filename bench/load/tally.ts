/** What a load found: how requests ended, and how long everything took. */
import { Histogram, type CurvePoint, type Summary } from "./histogram.ts";

export interface Result {
  mode: string;
  /** Of the measured part. */
  seconds: number;
  /** Ended within the measured part, whole. */
  succeeded: number;
  failed: number;
  perSecond: number;
  statuses: Record<string, number>;
  /** Error codes of answers and of failed streams, and what broke connections. */
  codes: Record<string, number>;
  /** Requests that ended from the first to the last, those of warming up included. */
  endedInAll: number;
  failedInAll: number;
  latencyMs: Summary | null;
  latencyDoublings: { upToMs: number; count: number }[];
  latencyCurve: CurvePoint[];
  /** From the same start as the latency to the stream's first event; of all streams, those of warming up included. */
  firstEventMs: Summary | null;
  /** Between two events of a stream. */
  gapMs: Summary | null;
  /** From the provider's sending of an event to its arrival, where the provider tells. */
  eventLatenessMs: Summary | null;
  eventLatenessCurve: CurvePoint[];
  /** Of streams, within the measured part. */
  events: number;
  /** How late requests were sent: waiting for a timer or a free connection. Part of the latency. Open loop only. */
  sendLatenessMs: Summary | null;
  /** The most requests under way at a time. */
  underWayMax: number;
  /** When the last request of all ended: milliseconds since 1970. */
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

  /** @param outcome `code` is null for a whole answer; `status` 0 where there was none */
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
