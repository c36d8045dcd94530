import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
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

test.skipIf(!mayMount())("a run removes the file system that a killed one left mounted", async () => {
  await using home = await temporaryFolder();
  const mounted = join(home.path, "weir-test-999999999-a/data");
  mkdirSync(mounted, { recursive: true });
  mount(mounted);
  using folder = openMemoryFolder(home.path, 1);
  expect(readdirSync(home.path).map((name) => join(home.path, name))).toEqual([folder?.path ?? ""]);
});

test("there is none without a file system in memory, and without room for a run", async () => {
  await using home = await temporaryFolder();
  expect(openMemoryFolder(join(home.path, "none"), 1)).toBeNull();
  expect(openMemoryFolder(home.path, Number.MAX_SAFE_INTEGER)).toBeNull();
  expect(readdirSync(home.path)).toEqual([]);
});

/** Only root may, and not in every container. */
function mayMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), "weir-mount-"));
  const may = mount(path);
  if (may) spawnSync("umount", [path]);
  rmSync(path, { recursive: true });
  return may;
}

function mount(path: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "tmpfs", path]).status === 0;
}
