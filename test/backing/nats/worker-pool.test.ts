import { describe, expect, test } from "bun:test";
import { Crew } from "../../../src/backing/nats/worker-pool.ts";
import { busSilenceMsMax, busTurnMs, workerSilenceMsMax } from "../../../src/backing/limits.ts";

function crewOf(...ids: string[]): Crew {
  const crew = new Crew();
  for (const id of ids) crew.heard(id);
  return crew;
}

function pass(crew: Crew, ms: number): void {
  for (let turn = 0; turn < ms / busTurnMs; turn++) crew.turn();
}

describe("who gets the next message", () => {
  test("servers get messages in turn, two in flight to each", () => {
    const crew = crewOf("a", "b");
    expect(Array.from({ length: 5 }, () => crew.take())).toEqual(["a", "b", "a", "b", null]);
    crew.answered("b");
    expect([crew.take(), crew.take()]).toEqual(["b", null]);
  });

  test("as many messages may be in flight as the servers in turn take, and one when there is none", () => {
    const crew = crewOf("a", "b");
    expect(crew.width).toBe(4);
    crew.late("a");
    expect(crew.width).toBe(2);
    crew.left("b");
    expect(crew.width).toBe(1);
  });

  test("a server that left a message unanswered is passed over until it beats, and starts with a free place then", () => {
    const crew = crewOf("a", "b");
    expect([crew.take(), crew.take(), crew.take()]).toEqual(["a", "b", "a"]);
    crew.late("a");
    crew.late("a");
    expect([crew.take(), crew.take()]).toEqual(["b", null]);
    crew.heard("a");
    expect([crew.take(), crew.take(), crew.take()]).toEqual(["a", "a", null]);
  });

  test("a server that is silent for 300 ms is out of turn; after a second nobody is there", () => {
    const crew = crewOf("a", "b");
    pass(crew, workerSilenceMsMax - busTurnMs);
    crew.heard("b");
    pass(crew, 2 * busTurnMs);
    expect([crew.take(), crew.take()]).toEqual(["b", "b"]);
    expect(crew.empty).toBe(false);
    pass(crew, busSilenceMsMax + busTurnMs);
    expect({ empty: crew.empty, next: crew.take() }).toEqual({ empty: true, next: null });
  });

  test("a message goes again to another server than the first, be its share full, and to none where there is no other", () => {
    const crew = crewOf("a", "b");
    for (let message = 0; message < 4; message++) crew.take();
    expect(crew.take("a")).toBe("b");
    crew.left("b");
    expect(crew.take("a")).toBeNull();
  });

  test("an answer of a server that left meanwhile frees nothing", () => {
    const crew = crewOf("a");
    crew.take();
    crew.left("a");
    crew.answered("a");
    crew.late("a");
    expect({ empty: crew.empty, next: crew.take() }).toEqual({ empty: true, next: null });
  });
});
