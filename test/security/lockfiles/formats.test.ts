import { expect, test } from "bun:test";
import { isLockFileOrCompanion } from "../../../src/security/lockfiles/formats.ts";

test("lock files are recognized by their names, in any folder", () => {
  const wanted = [
    "package-lock.json",
    "a/b/yarn.lock",
    "requirements.txt",
    "requirements-dev.txt",
    "dev_requirements.txt",
    "x/go.mod",
    "x/go.sum",
  ];
  expect(wanted.filter((path) => !isLockFileOrCompanion(path))).toEqual([]);
  const others = [
    "package.json",
    "package-lock.json.bak",
    "my-yarn.lock",
    "requirements.in",
    "notrequirements.txt",
    "cargo.lock",
    "go.mod/readme",
    "",
  ];
  expect(others.filter(isLockFileOrCompanion)).toEqual([]);
});
