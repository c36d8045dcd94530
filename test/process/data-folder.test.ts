import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { openDataFolder, restrictPermissions } from "../../src/process/data-folder.ts";
import { ConfigError } from "../../src/process/environment/variables.ts";
import { canFillDisk, withDiskFullAt } from "../support/processes/full-disk.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function refusalOf(folder: string, bytesMin = 0): string {
  try {
    openDataFolder(folder, bytesMin);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "none";
}

describe("a data folder", () => {
  test("a missing one is created with its parents, and keeps nothing of the test write", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "not/yet/there");
    openDataFolder(path, 1);
    expect(readdirSync(path)).toEqual([]);
  });

  test("one that cannot be used is refused in one sentence with its name and what is wrong", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "file");
    writeFileSync(file, "");
    restrictPermissions(file);
    expect(refusalOf(file)).toBe(`Cannot use DATA_DIR "${file}": it is a file, and a folder is needed`);
    expect(refusalOf(join(file, "within"))).toEndWith(": a part of its path is a file");
    expect(refusalOf("/proc/weir")).toEndWith(": a folder of its path is missing and cannot be created");
    expect(refusalOf(folder.path, 2 ** 60)).toMatch(/: its disk has \d+ MiB free, and 1099511627776 MiB are needed$/);
  });

  test.skipIf(!canFillDisk)("one on a full disk is refused, and nothing stays in it", async () => {
    await using folder = await temporaryFolder();
    withDiskFullAt(100, () => expect(refusalOf(folder.path)).toStartWith(`Cannot use DATA_DIR "${folder.path}": `));
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
