/** Large documents are read in subprocesses, a few at a time, with the same results as small ones. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { diskFloorBytes, diskRetryMs } from "../../../src/accounts/limits.ts";
import { DiskSpaceGuard } from "../../../src/accounts/quotas/disk-space-guard.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import {
  sbomReadHereBytesMax,
  sbomReadMs,
  sbomReaderWaitMs,
  sbomReadersPerWorkspaceMax,
  sbomReadersWaitingPerWorkspaceMax,
} from "../../../src/security/limits.ts";
import { SbomReader } from "../../../src/security/sboms/reader.ts";
import { parseSbomField } from "../../../src/security/sboms/sbom-field.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { largeBom } from "../../support/security/sbom-documents.ts";
import { roomyDisk, testSbomReader } from "../../support/security/sbom-reader.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

const workspace = "ws_of_the_test";
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
test("a large document gives what the same code gives here, and the rest of its body", async () => {
  const reader = testSbomReader();
  const bytes = bytesOf({ project: "p", sbom: largeBom(3_000), filename: "é" });
  expect(bytes.length).toBeGreaterThan(sbomReadHereBytesMax);
  const [there, here] = [
    await reader.read({ pieces: [bytes], path: ["sbom"], workspace }),
    parseSbomField({ bytes, path: ["sbom"] }),
  ];
  expect(there.sbom).toEqual(here.sbom);
  expect(new TextDecoder().decode(there.rest)).toBe(new TextDecoder().decode(here.rest));
  expect(here.sbom?.rows?.components).toBe(3_000);
  const alone = bytesOf(largeBom(400));
  expect(await reader.read({ pieces: [alone], path: null, workspace })).toEqual(parseSbomField({ bytes: alone, path: null }));
}, 60_000);

test("a large document that is refused is refused with the same sentence", async () => {
  const reader = testSbomReader();
  const bytes = bytesOf({ sbom: { ...largeBom(400), specVersion: "9.9" } });
  const { sbom } = await reader.read({ pieces: [bytes], path: ["sbom"], workspace });
  expect(sbom?.refused).toContain('The document is CycloneDX, version "9.9"');
  const none = new Uint8Array(sbomReadHereBytesMax + 1).fill(0x20);
  expect(await reader.read({ pieces: [none], path: ["sbom"], workspace })).toEqual({ sbom: null, rest: none });
}, 60_000);

test("the event loop goes on while a large document is read", async () => {
  const bytes = bytesOf(largeBom(20_000));
  let longestMs = 0;
  let before = process.threadCpuUsage();
  const ticking = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    before = process.threadCpuUsage();
  }, 1);
  const { sbom } = await testSbomReader().read({ pieces: [bytes], path: null, workspace });
  clearInterval(ticking);
  expect(sbom?.rows?.components).toBe(20_000);
  expect(longestMs).toBeLessThan(200);
}, 60_000);

test("a document that takes too long is aborted and refused, and the next ones are read", async () => {
  const clock = new ManualClock();
  const reader = testSbomReader(clock);
  const bytes = bytesOf(largeBom(400));
  const late = failureOf(reader.read({ pieces: [bytes], path: null, workspace }));
  await until(() => clock.pending === 1);
  clock.advance(sbomReadMs);
  expect(String(await late)).toContain(`The document takes longer than ${sbomReadMs / 1_000} s to read; upload a smaller one`);
  expect((await reader.read({ pieces: [bytes], path: null, workspace })).sbom?.rows?.components).toBe(400);
  expect(clock.pending).toBe(0);
}, 60_000);

test("more than may wait of a workspace are turned away, those that wait are read, and no other one waits for them", async () => {
  const clock = new ManualClock();
  const reader = testSbomReader(clock);
  const bytes = bytesOf(largeBom(400));
  const places = sbomReadersPerWorkspaceMax + sbomReadersWaitingPerWorkspaceMax;
  const ended: string[] = [];
  const take = async (of: string) => {
    const { sbom } = await reader.read({ pieces: [bytes], path: null, workspace: of });
    ended.push(of);
    return sbom?.refused;
  };
  const taken = Array.from({ length: places }, () => take("one"));
  await until(() => clock.pending === places);
  const refused = await failureOf(take("one"));
  expect(refused).toMatchObject({ status: 429, retryAfterMs: sbomReaderWaitMs });
  expect(String(refused)).toContain("Too many SBOMs are being read at present");
  expect(await Promise.all([take("other"), ...taken])).toEqual([null, ...taken.map(() => null)]);
  expect(ended.indexOf("other")).toBeLessThanOrEqual(3);
}, 60_000);

test("a document that waits for its turn, and one that is read, leave no file behind", async () => {
  await using folder = await temporaryFolder();
  const reader = new SbomReader({ clock: systemClock, folder: join(folder.path, "documents"), disk: roomyDisk });
  const bytes = bytesOf(largeBom(1_000));
  const reading = [1, 2].map(() => reader.read({ pieces: [bytes], path: null, workspace }));
  await Promise.all(reading);
  const broken = async function* () {
    yield bytes;
    throw new Error("The client left");
  };
  expect(String(await failureOf(reader.read({ pieces: broken(), path: null, workspace })))).toContain("The client left");
  expect(await readdir(join(folder.path, "documents"))).toEqual([]);
}, 60_000);

test("with a nearly full disk, documents are refused with a Retry-After", async () => {
  const full = new DiskSpaceGuard(systemClock, async () => diskFloorBytes - 1);
  const refused = await failureOf(testSbomReader(systemClock, full).read({ pieces: [bytesOf({})], path: null, workspace }));
  expect(refused).toMatchObject({ status: 503, retryAfterMs: diskRetryMs });
  const room = new DiskSpaceGuard(systemClock, async () => diskFloorBytes);
  await testSbomReader(systemClock, room).read({ pieces: [bytesOf({})], path: null, workspace });
});
