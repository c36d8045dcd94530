import { expect, test } from "bun:test";
import { isLockFileOrCompanion, unsupportedReason } from "../../../src/security/lockfiles/formats.ts";

test("lock files are recognized by their names, in any folder", () => {
  const wanted = [
    "package-lock.json",
    "a/b/yarn.lock",
    "requirements.txt",
    "requirements-dev.txt",
    "dev_requirements.txt",
    "x/go.mod",
    "x/go.sum",
    "bun.lock",
    "pylock.toml",
    "pylock.prod.toml",
    "requirements/base.txt",
    "x/requirements/py3.txt",
    "constraints.txt",
    "dev-constraints.txt",
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
    "bun.lockb",
    "pylock.a.b.toml",
    "requirements/base.in",
    "requirements/linux/base.txt",
    "base.txt",
    "",
  ];
  expect(others.filter(isLockFileOrCompanion)).toEqual([]);
});

test("lock files of other package managers are known by name, and are never those that are read", () => {
  const named = ["bun.lockb", "x/composer.lock", "paket.lock", "Package.resolved", "conda-lock.yml", "deno.lock"];
  expect(named.filter((path) => unsupportedReason(path) === null || isLockFileOrCompanion(path))).toEqual([]);
  expect(["bun.lock", "Cargo.lock", "my.lock", "composer.json"].filter((path) => unsupportedReason(path) !== null)).toEqual([]);
});
