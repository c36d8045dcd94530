import { expect, test } from "bun:test";
import { readLockFiles } from "../../../src/security/lockfiles/read-lock-files.ts";
import { repositoryBom } from "../../../src/security/lockfiles/repository-bom.ts";
import { pathsOf } from "../../../src/security/sboms/document.ts";
import { fileOf } from "./lock-text.ts";

const files = [
  fileOf("web/yarn.lock", 'a@^1.0.0:\n  version "1.0.0"\n  dependencies:\n    b "*"\n\nb@*:\n  version "2.0.0"\n'),
  fileOf("go.mod", "module m\ngo 1.21\nrequire example.com/x v1.0.0\nrequire example.com/y v1.1.0 // indirect\n"),
  fileOf("old/packages.config", '<packages><package id="b" version="2.0.0"/></packages>'),
  fileOf("broken/Cargo.lock", "[["),
  fileOf("README.md", "no lock file"),
];

test("a repository gives one document whose paths name the lock file, with direct and transitive packages as in the files", () => {
  const { read, failed } = readLockFiles(files);
  expect(failed.map(({ path }) => path)).toEqual(["broken/Cargo.lock"]);
  const { document } = repositoryBom({ name: "example/app", files: read, notRead: failed });
  const way = pathsOf(document);
  const told = document.components.map(({ ref, relation, type }) => `${type} ${relation} ${way(ref).join(" > ")}`);
  expect(told.toSorted()).toEqual(
    [
      "application direct repository > go.mod",
      "application direct repository > old/packages.config",
      "application direct repository > web/yarn.lock",
      "library direct repository > go.mod > go.mod#pkg:golang/example.com/x@v1.0.0",
      "library transitive repository > go.mod > go.mod#pkg:golang/example.com/y@v1.1.0",
      "library unknown repository > old/packages.config > old/packages.config#pkg:nuget/b@2.0.0",
      "library direct repository > web/yarn.lock > web/yarn.lock#pkg:npm/a@1.0.0",
      "library transitive repository > web/yarn.lock > web/yarn.lock#pkg:npm/a@1.0.0 > web/yarn.lock#pkg:npm/b@2.0.0",
    ].toSorted(),
  );
  expect(document).toMatchObject({ format: "CycloneDX", specVersion: "1.6", name: "example/app", root: { ref: "repository" } });
  expect(document.components.every(({ purl }) => purl.parsed !== null || purl.written === null)).toBe(true);
});

test("what is not watched is in its warnings, a line for each reason, and a change of them changes the bytes", () => {
  const bomOf = (text: string, notRead: { path: string; reason: string }[] = []) =>
    repositoryBom({ name: "app", files: readLockFiles([fileOf("requirements.txt", text)]).read, notRead });
  const { document, bytes } = bomOf("a==1.0\nb>=2\nc\n-r missing.txt\n", [{ path: "Cargo.lock", reason: "is empty" }]);
  expect(document.warnings).toEqual([
    "Cargo.lock: is empty",
    "requirements.txt: b: is not watched: it is not pinned to an exact version (and 1 more)",
    "requirements.txt: -r missing.txt: is not watched: the file is not among those that are read",
  ]);
  const plain = bomOf("a==1.0\n");
  expect(plain.document.warnings).toEqual([]);
  expect(Buffer.from(plain.bytes).equals(Buffer.from(bytes))).toBe(false);
  expect(plain.document.components).toEqual(document.components);
});

test("equal lock files give equal bytes in any order", () => {
  const one = repositoryBom({ name: "example/app", files: readLockFiles(files).read, notRead: [] });
  const other = repositoryBom({ name: "example/app", files: readLockFiles(files.toReversed()).read, notRead: [] });
  expect(Buffer.from(other.bytes).equals(Buffer.from(one.bytes))).toBe(true);
  expect(other.document).toEqual(one.document);
});
