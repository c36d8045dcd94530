import { gzipSync } from "node:zlib";
import { describe, expect, test } from "bun:test";
import { archiveBudget } from "../../../src/security/archives/budget.ts";
import { osvRecord, readStream, idsAndFailures } from "../../support/security/advisories.ts";
import { tarOf, zipOf, type ArchivedFile, type ZipOptions } from "../../support/security/archives.ts";

const file = (id: string): ArchivedFile => ({ name: `vulns/${id}.json`, text: JSON.stringify(osvRecord(id)) });
const files = ["X-1", "X-2", "X-3"].map(file);
const readme = { name: "README.md", text: "no record" };

const kinds: Record<string, (given: ArchivedFile[]) => Buffer> = {
  "a tar archive": tarOf,
  "a tar.gz archive": (given) => gzipSync(tarOf(given)),
  "a zip archive": zipOf,
  "a zip archive of stored files": (given) => zipOf(given.map((one) => ({ ...one, stored: true }))),
  "a zip archive that was written to a stream": (given) => zipOf(given.map((one) => ({ ...one, streamed: true }))),
};

describe.each(Object.keys(kinds))("%s", (kind) => {
  const archive = kinds[kind]?.([readme, ...files]) ?? Buffer.alloc(0);

  test("has the same records with any name and from any source", async () => {
    for (const pieceBytes of [1, 7, 511, 512, 100_000]) {
      expect(idsAndFailures(await readStream(archive, { name: "all", pieceBytes }))).toEqual(["X-1", "X-2", "X-3"]);
    }
  });

  test("that is truncated anywhere gives the records before, and then a failure with its name", async () => {
    // A shorter part of a tar archive cannot be recognized.
    for (let length = 262; length < archive.length; length += 7) {
      const readings = idsAndFailures(await readStream(archive.subarray(0, length), { name: "all" }));
      const ids = readings.filter((text) => /^X-\d$/.test(text));
      expect(["X-1", "X-2", "X-3"].slice(0, ids.length)).toEqual(ids);
      expect(readings.slice(0, ids.length)).toEqual(ids);
      if (!archive.subarray(length).every((byte) => byte === 0)) expect(readings.at(-1)).toMatch(/^all .*truncated$/);
    }
  });

  test("is resumed after the last processed record", async () => {
    const all = await readStream(archive, { name: "all" });
    expect(all.map(({ cursor }) => cursor.document)).toEqual(["all/vulns/X-1.json", "all/vulns/X-2.json", "all/vulns/X-3.json"]);
    expect(idsAndFailures(await readStream(archive, { name: "all", after: all[1]?.cursor }))).toEqual(["X-3"]);
  });

  test.each(["../../etc/x.json", "/etc/x.json", "a/../../x.json", "C:\\x.json", "a\\..\\x.json"])(
    "refuses the entry %s by its name and takes the others",
    async (name) => {
      const slipping = kinds[kind]?.([file("X-1"), { ...file("X-2"), name }, file("X-3")]) ?? Buffer.alloc(0);
      const readings = idsAndFailures(await readStream(slipping, { name: "all" }));
      expect(readings).toEqual(["X-1", expect.stringMatching(/^all\/.* has a name that/), "X-3"]);
    },
  );

  test("is refused when it has too many entries, after the allowed ones", async () => {
    const readings = idsAndFailures(await readStream(archive, { name: "all", budget: { ...archiveBudget, entriesMax: 3 } }));
    expect(readings).toEqual(["X-1", "X-2", "all has more than 3 entries, the most that are accepted"]);
  });

  test("is refused when it is too large, after the records before the limit", async () => {
    const readings = idsAndFailures(await readStream(archive, { name: "all", budget: { ...archiveBudget, bytesMax: 100 } }));
    expect(readings.at(-1)).toBe(kind === "a tar archive" ? "X-3" : "all holds more than 100 bytes, the most that are accepted");
  });
});

describe("a decompression bomb", () => {
  const zeros = { name: "zeros.json", text: "0".repeat(40_000_000) };

  test.each([
    ["tar.gz", gzipSync(tarOf([file("X-1"), zeros, file("X-2")]))],
    ["zip", zipOf([file("X-1"), zeros, file("X-2")])],
    ["zip that was written to a stream", zipOf([file("X-1"), { ...zeros, streamed: true }, file("X-2")])],
    ["JSON file", gzipSync(zeros.text)],
  ])("in a %s is refused long before it is unpacked", async (_, bomb) => {
    const readings = idsAndFailures(await readStream(bomb, { name: "all" }));
    expect(readings.at(-1)).toBe("all grows to more than 200 times its size when it is unpacked");
    expect(readings).not.toContain("X-2");
  });

  test("of headers in a tar archive is refused", async () => {
    const archive = tarOf([file("X-1"), { name: "x", text: "0".repeat(100_000), type: "x" }]);
    expect(idsAndFailures(await readStream(archive, { name: "all" }))).toEqual([
      "X-1",
      "all holds a tar header of 100000 bytes; at most 65536 are accepted",
    ]);
  });
});

describe("a damaged archive", () => {
  test("names the entry with the wrong checksum, and the others are read", async () => {
    const archive = zipOf([file("X-1"), { ...file("X-2"), text: "{}", checksum: 1 }, file("X-3")]);
    const readings = idsAndFailures(await readStream(archive, { name: "all" }));
    expect(readings).toContain("all/vulns/X-2.json is damaged: its checksum is wrong");
    expect(readings).toContain("X-3");
  });

  test.each<[string, ZipOptions]>([
    ["is encrypted", { encrypted: true }],
    ["is compressed by method 93; known are 0 (stored) and 8 (deflate)", { method: 93 }],
  ])("names the entry that %s, and the others are read", async (reason, options) => {
    const archive = zipOf([{ ...file("X-1"), ...options }, file("X-2")]);
    expect(idsAndFailures(await readStream(archive, { name: "all" }))).toEqual([`all/vulns/X-1.json ${reason}`, "X-2"]);
  });

  test("ends where its headers or its compressed data are invalid", async () => {
    const tar = tarOf(files);
    tar.write("garbage", 1024 + 100);
    expect(idsAndFailures(await readStream(tar, { name: "all" }))).toEqual([
      "X-1",
      "all holds a damaged tar header, or is not a tar archive",
    ]);
    const packed = gzipSync(tarOf(files));
    // The block type 3 of deflate is invalid.
    packed[10] = 0x07;
    expect(idsAndFailures(await readStream(packed, { name: "all" }))).toEqual(["all holds damaged compressed data"]);
  });
});

test("long names of GNU and pax archives are read, and links are skipped", async () => {
  const long = `${"d".repeat(150)}/X-1.json`;
  const pax = `path=${long}\n`;
  const line = `${pax.length + 4} ${pax}`;
  const { text } = file("X-1");
  const readings = await readStream(
    tarOf([
      { name: "long", text: line, type: "x" },
      { name: "short.json", text },
      { name: "././@LongLink", text: `${long}\0`, type: "L" },
      { name: "short.json", text },
      { name: "link.json", text: "", type: "2" },
    ]),
    { name: "all" },
  );
  expect(readings.map(({ name }) => name)).toEqual([`all/${long}`, `all/${long}`]);
});
