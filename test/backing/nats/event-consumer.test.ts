import { describe, expect, test } from "bun:test";
import { eventKeptBackMs, eventStalledMs } from "../../../src/backing/limits.ts";
import { StalledConsumerDetector, type ConsumerState } from "../../../src/backing/nats/event-consumer.ts";

function state({ floor = 0, delivered = 0, waiting = 0, unacknowledged = 0 }): ConsumerState {
  return {
    ack_floor: { stream_seq: floor },
    delivered: { stream_seq: delivered },
    num_pending: waiting,
    num_ack_pending: unacknowledged,
  };
}

describe("a consumer of NATS whose pull came back empty", () => {
  test("is well when it has nothing, however long", () => {
    const detector = new StalledConsumerDetector();
    for (let now = 0; now < 3 * eventStalledMs; now += 5_000)
      expect(detector.isStalled(state({ floor: 7, delivered: 7 }), now)).toBe(false);
  });

  test("is stuck when it keeps back what it has for longer than a new one takes to begin", () => {
    const detector = new StalledConsumerDetector();
    expect(detector.isStalled(state({ waiting: 3 }), 0)).toBe(false);
    expect(detector.isStalled(state({ waiting: 3 }), eventKeptBackMs - 1)).toBe(false);
    expect(detector.isStalled(state({ waiting: 3 }), eventKeptBackMs)).toBe(true);
  });

  test("is well when an event came just after the pull, or others are served meanwhile", () => {
    const detector = new StalledConsumerDetector();
    expect(detector.isStalled(state({ waiting: 1 }), 0)).toBe(false);
    detector.delivered();
    expect(detector.isStalled(state({ waiting: 1 }), 5_000)).toBe(false);
    expect(detector.isStalled(state({ waiting: 1, delivered: 9 }), 10_000)).toBe(false);
  });

  test("is stuck when what it delivered is neither acknowledged nor delivered again for minutes", () => {
    const detector = new StalledConsumerDetector();
    const half = state({ floor: 4, delivered: 9, unacknowledged: 5 });
    expect(detector.isStalled(half, 0)).toBe(false);
    expect(detector.isStalled(half, eventStalledMs)).toBe(false);
    expect(detector.isStalled(half, eventStalledMs + 1)).toBe(true);
  });

  test("is well as long as its acknowledged end moves", () => {
    const detector = new StalledConsumerDetector();
    for (let floor = 0; floor < 10; floor++) {
      expect(detector.isStalled(state({ floor, delivered: 20, unacknowledged: 5 }), floor * (eventStalledMs / 2))).toBe(false);
    }
  });
});
