import { eventKeptBackMs, eventStalledMs } from "../../limits.ts";

/** A consumer's own state, read when a pull came back empty. */
export interface ConsumerState {
  delivered: { stream_seq: number };
  ack_floor: { stream_seq: number };
  num_pending: number;
  num_ack_pending: number;
}

/**
 * Distinguishes a consumer that no longer delivers (nats-server issues 4566, 4736, 5679) from one that has nothing to deliver:
 * it delivered nothing of its pending events for some seconds, longer than a cluster takes to choose a leader for a new one, or its acknowledged end has not moved for minutes while events
 * are in delivery.
 */
export class StalledConsumerDetector {
  #before: ConsumerState | null = null;
  #keepsBackSince = 0;
  #floor = -1;
  #floorSince = 0;

  /** Something was delivered. */
  delivered(): void {
    this.#before = null;
  }

  /** @param now of the monotonic clock */
  isStalled(state: ConsumerState, now: number): boolean {
    if (state.ack_floor.stream_seq !== this.#floor || state.num_ack_pending === 0) {
      this.#floor = state.ack_floor.stream_seq;
      this.#floorSince = now;
    }
    const before = this.#before;
    this.#before = state;
    const keepsBack =
      before !== null &&
      before.num_pending > 0 &&
      state.num_pending > 0 &&
      before.delivered.stream_seq === state.delivered.stream_seq;
    if (!keepsBack) this.#keepsBackSince = now;
    return now - this.#keepsBackSince >= eventKeptBackMs || now - this.#floorSince > eventStalledMs;
  }
}
