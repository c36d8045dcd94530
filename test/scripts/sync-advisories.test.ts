/** `weir advisories sync`, from a local server in place of OSV's, to a service that only notes what it gets. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { CallError } from "../../scripts/weir/call.ts";
import { downloadArchive, downloadProgress, SyncFiles, syncAdvisories } from "../../scripts/weir/sync-advisories.ts";
import type { LocalAnswer, Sending } from "../../scripts/weir/verb.ts";
import { osvRecord } from "../support/security/advisories.ts";
import { ArchiveServer } from "../support/security/archive-server.ts";
import { zipOf } from "../support/security/archives.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

let server: ArchiveServer;
let root: Awaited<ReturnType<typeof temporaryFolder>>;
let folder: string;
let made = 0;
/** What the service has: ids of records, and the note of each ecosystem. */
let stored: string[];
let notes: Record<string, unknown>[];
/** How many records were stored when the sending of an ecosystem began. */
let begun: [unknown, number][];
/** The service refuses this record's batch once. */
let refused: string | null;

beforeAll(async () => {
  server = await ArchiveServer.start();
  root = await temporaryFolder();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await root[Symbol.asyncDispose]();
});
beforeEach(() => {
  folder = join(root.path, `run-${++made}`);
  server.published.clear();
  server.answered.length = 0;
  [stored, notes, begun, refused] = [[], [], [], null];
});

const service: Sending = {
  async get() {
    return { data: notes, exploits: [] };
  },
  async post({ records }) {
    const ids = (records as { id: string }[]).map(({ id }) => id);
    if (refused !== null && ids.includes(refused)) {
      refused = null;
      throw new CallError("Cannot reach Weir");
    }
    stored.push(...ids);
    return { imported: ids.length, unchanged: 0, failures: [] };
  },
  postTo: async () => ({ stored: 0 }),
  async note({ ecosystem, ended, ...note }) {
    if (ended === false) {
      begun.push([ecosystem, stored.length]);
      return {};
    }
    notes = [...notes.filter((one) => one["ecosystem"] !== ecosystem), { ecosystem, ...note }];
    return {};
  },
  upload: () => Promise.reject(new Error("Nothing is uploaded in this test")),
  showProgress() {},
};

/** Publishes this many records. @returns the archive */
function publish(ecosystem: string, count: number, etag = '"one"'): Buffer {
  const files = Array.from({ length: count }, (_, index) => ({
    name: `OSV-${index}.json`,
    text: JSON.stringify(osvRecord(`OSV-${index}`, { details: String(Math.random()) })),
  }));
  const bytes = zipOf(files);
  server.published.set(`/${ecosystem}/all.zip`, { bytes, etag });
  return bytes;
}
const sizeOf = (name: string): number => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
/** Breaks off the download of npm's archive when its beginning is there. */
async function brokenSync(): Promise<LocalAnswer> {
  server.stopAfter = 10_000;
  const running = sync("npm");
  await until(() => sizeOf("npm.zip") > 0);
  server.breakOff();
  return running;
}
const sync = (...ecosystems: string[]): Promise<LocalAnswer> => syncAdvisories({ ecosystems, from: server.url, folder }, service);

test("a synchronization stores the records of the archive, notes its ETag, and downloads it again only when it changed", async () => {
  publish("npm", 3);
  publish("PyPI", 2);
  expect((await sync("npm", "pypi")).text).toBe(
    "npm: 3 read: 3 imported, 0 unchanged, 0 failed\nPyPI: 2 read: 2 imported, 0 unchanged, 0 failed",
  );
  expect(notes).toEqual([
    { ecosystem: "npm", etag: '"one"', published_at: "2026-11-26T10:00:00.000Z" },
    { ecosystem: "PyPI", etag: '"one"', published_at: "2026-11-26T10:00:00.000Z" },
  ]);
  expect((await sync("npm")).text).toBe("npm: unchanged");
  expect(stored).toHaveLength(5);
  expect(begun).toEqual([
    ["npm", 0],
    ["PyPI", 3],
  ]);
  publish("npm", 4, '"two"');
  expect((await sync("npm")).text).toStartWith("npm: 4 read");
  expect(server.answered).toEqual(["/npm/all.zip 0 200", "/PyPI/all.zip 0 200", "/npm/all.zip 0 304", "/npm/all.zip 0 200"]);
  expect(existsSync(join(folder, "npm.zip"))).toBe(false);
});

test("an interrupted download continues with the missing bytes, or from the beginning when the archive changed", async () => {
  const bytes = publish("npm", 300);
  const broken = await brokenSync();
  expect([broken.body["ok"], broken.errors]).toEqual([false, [expect.stringContaining("the same command continues")]]);
  const size = sizeOf("npm.zip");
  expect(size).toBeLessThan(bytes.length);
  expect((await sync("npm")).text).toStartWith("npm: 300 read");
  expect(server.answered).toEqual(["/npm/all.zip 0 200", `/npm/all.zip ${size} 206`]);

  publish("npm", 301, '"two"');
  await brokenSync();
  publish("npm", 302, '"three"');
  expect((await sync("npm")).text).toStartWith("npm: 302 read");
});

test("an interrupted import continues after the last stored record, without another download", async () => {
  publish("npm", 450);
  refused = "OSV-420";
  expect((await sync("npm")).errors).toEqual(["npm: Cannot reach Weir"]);
  expect([stored.length, notes]).toEqual([400, []]);
  expect((await sync("npm")).text).toStartWith("npm: 50 read");
  expect([stored.length, new Set(stored).size]).toEqual([450, 450]);
  expect(server.answered).toEqual(["/npm/all.zip 0 200", "/npm/all.zip 0 304"]);
});

test("an archive that is too large, longer than announced, damaged or a bomb is refused and leaves no note, and others go on", async () => {
  publish("Go", 1);
  const bytes = publish("npm", 100);
  server.published.set("/npm/all.zip", { bytes: bytes.subarray(0, bytes.length - 500), etag: '"cut"' });
  server.published.set("/PyPI/all.zip", {
    bytes: zipOf([1, 2, 3].map((n) => ({ name: `OSV-${n}.json`, text: " ".repeat(6_000_000) }))),
    etag: '"bomb"',
  });
  const { body, errors } = await sync("npm", "PyPI", "Maven", "Go");
  expect(body["ok"]).toBe(false);
  expect(errors.filter((line) => /^(npm|PyPI|Maven): /.test(line))).toEqual([
    expect.stringMatching(/^npm: The archive /),
    expect.stringMatching(/^PyPI: The archive grows to more than 200 times its size/),
    expect.stringMatching(/^Maven: .* answers with status 404$/),
  ]);
  expect(notes.map(({ ecosystem }) => ecosystem)).toEqual(["Go"]);

  const files = new SyncFiles(join(folder, "bounds"), "npm");
  const download = (bytesMax: number) =>
    downloadArchive({ url: `${server.url}/npm/all.zip`, files, known: null, bytesMax, onPiece() {} });
  publish("npm", 300);
  await expect(download(1_000)).rejects.toThrow(/bytes: at most 1000 are taken$/);
  expect(files.size()).toBe(0);
});

test("names of files in an archive are never paths, and other names than ecosystems are refused", async () => {
  const record = JSON.stringify(osvRecord("OSV-1", {}));
  server.published.set("/npm/all.zip", {
    bytes: zipOf([
      { name: "../../escaped.json", text: record },
      { name: "a.json", text: record },
    ]),
    etag: '"x"',
  });
  await sync("npm");
  expect(existsSync(join(folder, "../../escaped.json"))).toBe(false);
  await expect(sync("../npm")).rejects.toThrow('"../npm" is not one of npm, PyPI');
  await expect(syncAdvisories({ from: "file:///etc" }, service)).rejects.toThrow("is not an address");
});

test("the progress of a download has its rate and the time left, without the bytes of an earlier one", () => {
  const mebibyte = 1024 * 1024;
  const progress = downloadProgress("npm", { startAt: 100 * mebibyte, startMs: 1_000 });
  expect(progress({ done: 120 * mebibyte, total: 220 * mebibyte, nowMs: 3_000 })).toBe(
    "npm: 120.0 of 220.0 MiB (54 %), 10.0 MiB/s, 10 s left",
  );
});
