import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { openMemoryFolder } from "../../scripts/memory-folder.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a run's folder can be entered by other users, and is gone with its files after the run", async () => {
  await using home = await temporaryFolder();
  {
    using folder = openMemoryFolder(home.path, 1);
    const path = folder?.path ?? "";
    expect(readdirSync(path)).toEqual([]);
    expect(statSync(path).mode & 0o777).toBe(0o711);
    writeFileSync(join(path, "file"), "text");
  }
  expect(readdirSync(home.path)).toEqual([]);
});

test("a run removes what a killed one left, and nothing else", async () => {
  await using home = await temporaryFolder();
  const kept = ["another", `weir-test-${process.ppid}-a`];
  for (const name of [...kept, "weir-test-999999999-a"]) mkdirSync(join(home.path, name));
  using folder = openMemoryFolder(home.path, 1);
  expect(
    readdirSync(home.path)
      .filter((name) => join(home.path, name) !== folder?.path)
      .toSorted(),
  ).toEqual(kept);
});

test("there is none without a file system in memory, and without room for a run", async () => {
  await using home = await temporaryFolder();
  expect(openMemoryFolder(join(home.path, "none"), 1)).toBeNull();
  expect(openMemoryFolder(home.path, Number.MAX_SAFE_INTEGER)).toBeNull();
  expect(readdirSync(home.path)).toEqual([]);
});
