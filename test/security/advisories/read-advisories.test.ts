import { describe, expect, test } from "bun:test";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assert, asyncProperty, integer } from "fast-check";
import { CursorError, readAdvisories, type Progress } from "../../../src/security/advisories/read-advisories.ts";
import { advisoryBytesMax } from "../../../src/security/limits.ts";
import { osvRecord, readAll, readStream, idsAndFailures } from "../../support/security/advisories.ts";
import { failureOf } from "../../support/failure-of.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const json = (id: string, fields?: Record<string, unknown>) => JSON.stringify(osvRecord(id, fields));

describe("advisories are read from", () => {
  test.each([
    ["one JSON record", json("X-1"), ["X-1"]],
    ["one record over many lines after a byte order mark", `\ufeff${JSON.stringify(osvRecord("X-1"), null, 2)}\n`, ["X-1"]],
    ["an array", `[${json("X-1")} ,\n${json("X-2")}]`, ["X-1", "X-2"]],
    ["an empty array", " [ ] ", []],
    ["records one after another", `${json("X-1")}\n${json("X-2")}${json("X-3")}`, ["X-1", "X-2", "X-3"]],
    ["YAML", "id: X-1\nmodified: 2026-01-01T00:00:00Z\naliases:\n- CVE-2026-0001\n", ["X-1"]],
  ])("%s", async (_, content, ids) => {
    expect(idsAndFailures(await readStream(content))).toEqual(ids);
  });

  test("NDJSON, whose broken lines do not affect the others", async () => {
    const content = `${json("X-1")}\n{"id": "X-2", "aliases": [\n\n"X-3"\n${json("X-4")}`;
    const readings = idsAndFailures(await readStream(content, { name: "all.ndjson" }));
    expect(readings[0]).toBe("X-1");
    expect(readings[1]).toStartWith("all.ndjson:2 The record is not valid JSON");
    expect(readings[2]).toBe('all.ndjson:4 The record must be an object, and is "X-3"');
    expect(readings.slice(3)).toEqual(["X-4"]);
  });

  test("a folder and its subfolders, sorted by name, without links, hidden files and other files", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "b/c"), { recursive: true });
    await mkdir(join(folder.path, ".git"));
    await writeFile(join(folder.path, "z.json"), json("X-3"));
    await writeFile(join(folder.path, "b/c/a.yaml"), "id: X-2\nmodified: 2026-01-01T00:00:00Z\n");
    await writeFile(join(folder.path, "a.json"), json("X-1"));
    await writeFile(join(folder.path, "README.md"), "no record");
    await writeFile(join(folder.path, ".id-allocator"), "no record");
    await writeFile(join(folder.path, ".git/x.json"), json("X-4"));
    await symlink(join(folder.path, "a.json"), join(folder.path, "b/link.json"));
    await symlink(folder.path, join(folder.path, "b/loop"));
    expect(idsAndFailures(await readAll({ source: { path: folder.path } }))).toEqual(["X-1", "X-2", "X-3"]);
  });
});

describe("an invalid record is reported by its name, and the others are read", () => {
  test.each([
    ["an entry of another kind", `[${json("X-1")},7,"a",null,${json("X-2")}]`, ["stream[1]", "stream[2]", "stream[3]"]],
    ["broken JSON", `[${json("X-1")},{"id":},${json("X-2")}]`, ["stream[1]"]],
    ["an invalid field", `[${json("X-1")},{"id":"X-9"},${json("X-2")}]`, ["stream[1]"]],
    ["nesting of 65 levels", `[${json("X-1")},${"[".repeat(65)}${"]".repeat(65)},${json("X-2")}]`, ["stream[1]"]],
    ["a record that is too large", `[${json("X-1")},"${"x".repeat(advisoryBytesMax)}",${json("X-2")}]`, ["stream[1]"]],
  ])("%s", async (_, content, names) => {
    const readings = await readStream(content, { pieceBytes: 60_000 });
    expect(readings.flatMap((reading) => ("failure" in reading ? [reading.name] : []))).toEqual(names);
    expect(readings.flatMap((reading) => ("advisory" in reading ? [reading.advisory.id] : []))).toEqual(["X-1", "X-2"]);
  });

  test("a document that ends too early has the records before", async () => {
    const readings = idsAndFailures(await readStream(`[${json("X-1")},${json("X-2").slice(0, -5)}`));
    expect(readings).toEqual(["X-1", "stream[1] The record is cut off: the document ends in the middle of it"]);
    expect(idsAndFailures(await readStream(`[${json("X-1")}`))[1]).toContain("before the end of its array");
    expect(idsAndFailures(await readStream(""))).toEqual([
      "stream The record cannot be read as YAML: expected a document, but the input is empty",
    ]);
  });

  test("a file that is not UTF-8, and one that is not text", async () => {
    const readings = await readStream(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]));
    expect(idsAndFailures(readings)).toEqual(["stream The record is not text in UTF-8"]);
    expect(idsAndFailures(await readStream(new Uint8Array(2000)))[0]).toStartWith("stream The record cannot be read as YAML");
  });
});

describe("YAML", () => {
  const record = "id: X-1\nmodified: 2026-01-01T00:00:00Z\n";

  test("keeps versions as written", async () => {
    const [reading] = await readStream(`${record}affected:\n- versions: [1.10, 2.0, "3", 1e3, 0x10]\n`);
    expect(reading).toMatchObject({ advisory: { affected: [{ versions: ["1.10", "2.0", "3", "1e3", "0x10"] }] } });
  });

  test.each([
    ["an alias, which can expand without limit", `${record}a: &a [x]\nb: [*a, *a]\n`, "aliases exceeded"],
    ["a tag", `${record}a: !!js/function x\n`, "unknown scalar tag"],
    ["a duplicate key", `${record}id: X-2\n`, "duplicated mapping key"],
    ["several documents", `${record}---\n${record}`, "single document"],
    ["endless nesting", `${record}a: ${"[".repeat(100_000)}`, "nesting exceeded"],
    ["more text than a record may have", `${record}details: "${"x".repeat(2_200_000)}"`, "larger than 2097152 bytes"],
  ])("with %s is refused with its name", async (_, content, reason) => {
    const [reading, ...more] = idsAndFailures(await readStream(content, { name: "X-1.yaml" }));
    expect(reading).toStartWith("X-1.yaml The record ");
    expect(reading).toContain(reason);
    expect(more).toEqual([]);
  });
});

describe("an interrupted import", () => {
  const content = `[${["X-1", "X-2", "X-3", "X-4"].map((id) => json(id)).join(",")}]`;

  test("resumes after the last processed record", async () => {
    const all = await readStream(content);
    for (const [index, { cursor }] of all.entries()) {
      expect(idsAndFailures(await readStream(content, { after: cursor }))).toEqual(idsAndFailures(all.slice(index + 1)));
    }
  });

  test("resumes in the middle of a folder without reading the files before", async () => {
    await using folder = await temporaryFolder();
    for (const id of ["X-1", "X-2", "X-3"]) await writeFile(join(folder.path, `${id}.json`), json(id));
    const seen: Progress[] = [];
    const after = { document: "X-2.json", record: 0 };
    const readings = await readAll({ source: { path: folder.path }, after, onProgress: (progress) => seen.push(progress) });
    expect(idsAndFailures(readings)).toEqual(["X-3"]);
    expect(seen.at(-1)?.bytesRead).toBe(json("X-2").length + json("X-3").length);
  });

  test("does not resume in a source without the cursor's document", async () => {
    const error = await failureOf(readStream(content, { after: { document: "other", record: 0 } }));
    expect(error).toBeInstanceOf(CursorError);
  });

  test("closes its source when the reader stops", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "all.json");
    await writeFile(path, content);
    for await (const reading of readAdvisories({ source: { path } })) {
      expect(reading.name).toBe("all.json[0]");
      break;
    }
  });
});

test("progress has bytes, records and failures", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "all.json");
  const content = `[${json("X-1")},{},${json("X-2")}]`;
  await writeFile(path, content);
  const seen: Progress[] = [];
  await readAll({ source: { path }, onProgress: (progress) => seen.push(progress) });
  expect(seen.map(({ records, failures }) => [records, failures])).toEqual([
    [1, 0],
    [1, 1],
    [2, 1],
  ]);
  expect(seen.at(-1)).toMatchObject({ bytesRead: content.length, bytesTotal: content.length });
});

test("a path that does not exist is an error of the file system", async () => {
  expect(await failureOf(readAll({ source: { path: "/nowhere/at/all" } }))).toMatchObject({ code: "ENOENT" });
});

test("a stream gives the same records for any chunks", async () => {
  const content = `[ ${json("X-1", { summary: 'a "quoted\\" ] }' })},\n7, {"a":[1,{}]} ,${json("X-2", { details: "ü€😀" })}]`;
  const whole = await readStream(content);
  const holds = async (pieceBytes: number) => expect(await readStream(content, { pieceBytes })).toEqual(whole);
  await assert(asyncProperty(integer({ min: 1, max: 200 }), holds), { numRuns: 100 });
});
