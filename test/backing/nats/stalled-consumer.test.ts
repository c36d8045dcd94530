import { describe, expect, test } from "bun:test";
import { StuckWatch, type ConsumerState } from "../../../src/backing/nats/stalled-consumer.ts";
import { eventStuckMs } from "../../../src/backing/limits.ts";

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
    const watch = new StuckWatch();
    for (let now = 0; now < 3 * eventStuckMs; now += 5_000)
      expect(watch.isStuck(state({ floor: 7, delivered: 7 }), now)).toBe(false);
  });

  test("is stuck when it twice in a row keeps back what it has", () => {
    const watch = new StuckWatch();
    expect(watch.isStuck(state({ waiting: 3 }), 0)).toBe(false);
    expect(watch.isStuck(state({ waiting: 3 }), 5_000)).toBe(true);
  });

  test("is well when an event came just after the pull, or others are served meanwhile", () => {
    const watch = new StuckWatch();
    expect(watch.isStuck(state({ waiting: 1 }), 0)).toBe(false);
    watch.delivered();
    expect(watch.isStuck(state({ waiting: 1 }), 5_000)).toBe(false);
    expect(watch.isStuck(state({ waiting: 1, delivered: 9 }), 10_000)).toBe(false);
  });

  test("is stuck when what it delivered is neither acknowledged nor delivered again for minutes", () => {
    const watch = new StuckWatch();
    const half = state({ floor: 4, delivered: 9, unacknowledged: 5 });
    expect(watch.isStuck(half, 0)).toBe(false);
    expect(watch.isStuck(half, eventStuckMs)).toBe(false);
    expect(watch.isStuck(half, eventStuckMs + 1)).toBe(true);
  });

  test("is well as long as its acknowledged end moves", () => {
    const watch = new StuckWatch();
    for (let floor = 0; floor < 10; floor++) {
      expect(watch.isStuck(state({ floor, delivered: 20, unacknowledged: 5 }), floor * (eventStuckMs / 2))).toBe(false);
    }
  });
});
