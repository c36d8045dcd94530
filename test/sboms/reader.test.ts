/** Large documents are read beside the event loop, some at a time, and give what small ones give. */
import { expect, test } from "bun:test";
import { systemClock } from "../../src/kernel/clock.ts";
import { sbomReadersMax, sbomReadersWaitingMax, sbomReadHereBytesMax, sbomReadMs } from "../../src/limits/tools.ts";
import { SbomReader } from "../../src/sboms/reader.ts";
import { takeSbom } from "../../src/sboms/take-sbom.ts";
import { ManualClock } from "../support/clock.ts";
import { failureOf } from "../support/failure-of.ts";
import { until } from "../support/until.ts";
import { largeBom } from "../support/sbom-documents.ts";

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
test("a large document gives what the same code gives here, and the rest of its body", async () => {
  const reader = new SbomReader(systemClock);
  const bytes = bytesOf({ project: "p", sbom: largeBom(25_000), filename: "é" });
  expect(bytes.length).toBeGreaterThan(sbomReadHereBytesMax);
  const [there, here] = [await reader.take({ pieces: [bytes], path: ["sbom"] }), takeSbom({ bytes, path: ["sbom"] })];
  expect(there.taken).toEqual(here.taken);
  expect(new TextDecoder().decode(there.rest)).toBe(new TextDecoder().decode(here.rest));
  expect(here.taken?.sbom?.components).toBe(25_000);
  const alone = bytesOf(largeBom(3_000));
  expect(await reader.take({ pieces: [alone], path: null })).toEqual(takeSbom({ bytes: alone, path: null }));
}, 60_000);

test("a large document that is refused is refused with the same sentence", async () => {
  const reader = new SbomReader(systemClock);
  const bytes = bytesOf({ sbom: { ...largeBom(3_000), specVersion: "9.9" } });
  const { taken } = await reader.take({ pieces: [bytes], path: ["sbom"] });
  expect(taken?.refused).toContain('The document is CycloneDX, version "9.9"');
  const none = new Uint8Array(sbomReadHereBytesMax + 1).fill(0x20);
  expect(await reader.take({ pieces: [none], path: ["sbom"] })).toEqual({ taken: null, rest: none });
}, 60_000);

test("the event loop goes on while a large document is read", async () => {
  const reading = new SbomReader(systemClock).take({ pieces: [bytesOf(largeBom(40_000))], path: null });
  let longestMs = 0;
  let last = performance.now();
  const ticking = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last);
    last = performance.now();
  }, 1);
  const { taken } = await reading;
  clearInterval(ticking);
  expect(taken?.sbom?.components).toBe(40_000);
  expect(longestMs).toBeLessThan(500);
}, 60_000);

test("one that takes too long is ended and refused, and others come after it", async () => {
  const clock = new ManualClock();
  const reader = new SbomReader(clock);
  const bytes = bytesOf(largeBom(3_000));
  const late = failureOf(reader.take({ pieces: [bytes], path: null }));
  await until(() => clock.pending === 1);
  clock.advance(sbomReadMs);
  expect(String(await late)).toContain(`The document takes longer than ${sbomReadMs / 1_000} s to read; upload a smaller one`);
  expect((await reader.take({ pieces: [bytes], path: null })).taken?.sbom?.components).toBe(3_000);
  expect(clock.pending).toBe(0);
}, 60_000);

test("more than may wait are turned away at once, and those that wait are read", async () => {
  const reader = new SbomReader(systemClock);
  const bytes = bytesOf(largeBom(3_000));
  const taken = Array.from({ length: sbomReadersMax + sbomReadersWaitingMax }, () =>
    reader.take({ pieces: [bytes], path: null }),
  );
  expect(String(await failureOf(reader.take({ pieces: [bytes], path: null })))).toContain(
    "Too many SBOMs are being read at present",
  );
  expect((await Promise.all(taken)).map((one) => one.taken?.refused)).toEqual(taken.map(() => null));
}, 60_000);
