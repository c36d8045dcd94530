import { describe, expect, test } from "bun:test";
import { embeddingResponse } from "../../../../src/gateway/api/answer/embedding-answer.ts";
import { embeddingPieceBytes, streamStallMsMax } from "../../../../src/gateway/limits.ts";
import type { Vector } from "../../../../src/gateway/providers/embedding.ts";
import { systemClock, type Clock } from "../../../../src/kernel/clock.ts";
import { ManualClock } from "../../../support/clock.ts";

interface Held extends Disposable {
  disposed: boolean;
}

function held(): Held {
  return {
    disposed: false,
    [Symbol.dispose]() {
      this.disposed = true;
    },
  };
}

function answer(vectors: Vector[], base64: boolean, memory: Held = held(), clock: Clock = systemClock): Response {
  const facts = { vectors, base64, model: "acme/one", promptTokens: 3 };
  return embeddingResponse(facts, { headers: { "x-one": "1" }, memory: () => memory, clock });
}

async function vectorsOf(response: Response): Promise<unknown[]> {
  const { data } = (await response.json()) as { data: { embedding: unknown }[] };
  return data.map(({ embedding }) => embedding);
}

describe("vectors", () => {
  test("in base64 they are little-endian 32-bit floats", async () => {
    expect(await vectorsOf(answer([[0.1, -0.2, 0.3, 1]], true))).toEqual(["zczMPc3MTL6amZk+AACAPw=="]);
    const largest = (2 - 2 ** -23) * 2 ** 127;
    expect(await vectorsOf(answer([[0, -0, largest, 1e-45]], true))).toEqual(["AAAAAAAAAID//39/AQAAAA=="]);
    expect(await vectorsOf(answer([Float32Array.of(0.1, -0.2, 0.3, 1)], true))).toEqual(["zczMPc3MTL6amZk+AACAPw=="]);
  });

  test("numbers of 32 bits have their shortest decimal form, which reads as the same float", async () => {
    const vector = Float32Array.of(0.1, -0.2, 0.3, 1, 1e-45, 3.4028234663852886e38, 1 / 3, 16_777_217, 0.023_064_255);
    const [numbers] = (await vectorsOf(answer([vector], false))) as [number[]];
    expect(numbers.map(Math.fround)).toEqual([...vector]);
    expect(numbers.slice(0, 4)).toEqual([0.1, -0.2, 0.3, 1]);
  });

  test("numbers that the provider wrote stay as they are", async () => {
    expect(await vectorsOf(answer([[0.123456789012345]], false))).toEqual([[0.123456789012345]]);
  });
});

describe("a large answer", () => {
  const dimensions = 1_024;
  const vectors = Array.from({ length: 300 }, (_, index) =>
    Float32Array.from({ length: dimensions }, (_, place) => index + place / 8),
  );

  test.each([true, false])("is written in pieces near the limit, and is whole (base64: %p)", async (base64) => {
    const memory = held();
    const response = answer(vectors, base64, memory);
    const sizes: number[] = [];
    let text = "";
    for await (const piece of response.body ?? []) {
      sizes.push(piece.length);
      text += new TextDecoder().decode(piece);
    }
    expect(sizes.length).toBeGreaterThan(4);
    expect(Math.max(...sizes)).toBeLessThan(embeddingPieceBytes * 1.2);
    const parsed = JSON.parse(text) as { data: { index: number; embedding: unknown }[]; usage: unknown };
    expect(parsed.data.map(({ index }) => index)).toEqual(vectors.map((_, index) => index));
    expect(parsed.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
    if (!base64) expect(parsed.data.at(-1)?.embedding).toEqual([...(vectors.at(-1) ?? [])]);
    expect(memory.disposed).toBe(true);
    expect(response.headers.get("x-one")).toBe("1");
  });

  test("holds its memory until it is written, and gives it back when the client leaves", async () => {
    const memory = held();
    const reader = answer(vectors, true, memory).body?.getReader();
    await reader?.read();
    expect(memory.disposed).toBe(false);
    await reader?.cancel();
    expect(memory.disposed).toBe(true);
  });

  test("is given up when its client reads nothing for a minute, at the beginning or later", async () => {
    for (const pieces of [0, 2]) {
      const [memory, clock] = [held(), new ManualClock()];
      const reader = answer(vectors, true, memory, clock).body?.getReader();
      for (let read = 0; read < pieces; read++) {
        clock.advance(streamStallMsMax - 1);
        await reader?.read();
      }
      clock.advance(streamStallMsMax - 1);
      expect(memory.disposed).toBe(false);
      clock.advance(1);
      expect(memory.disposed).toBe(true);
      expect(await reader?.read().then(() => "read", String)).toContain("does not read");
    }
  });
});
