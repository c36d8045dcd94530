/** Lock files as the tools write them, with all that is read from them, and files with a fault. */
import { expect, test } from "bun:test";
import { needsIn, packagesIn, read, refusal } from "./lock-text.ts";
import { lockCases } from "./samples.ts";

test.each(lockCases)("$tells", ({ path, text, beside, expected }) => {
  const file = read(path, text, beside);
  const { skipped } = file;
  const purls = file.packages.map(({ purl }) => purl);
  expect({ packages: packagesIn(file), needs: needsIn(file), purls, skipped }).toEqual(expected);
});

test("npm-shrinkwrap.json stands in the place of the package-lock.json beside it", () => {
  const lock = JSON.stringify({ lockfileVersion: 3, packages: { "node_modules/a": { version: "1.0.0" } } });
  expect(() => read("package-lock.json", lock, { "npm-shrinkwrap.json": lock })).toThrow("was not read");
});

const bomb = '<!DOCTYPE project [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><project>&b;</project>';
const attributes = Array.from({ length: 200_001 }, (_, n) => `a${n}="1"`).join(" ");
const refusals: [path: string, text: string | Uint8Array, reason: unknown][] = [
  ["package-lock.json", '{"lockfileVersion": 4}', "lockfileVersion: is 4; 1, 2 and 3 are read"],
  ["package-lock.json", '{"lockfileVersion": 3}', "packages: is missing"],
  [
    "package-lock.json",
    '{"lockfileVersion": 3, "packages": {"node_modules/a": 1}}',
    'packages["node_modules/a"]: is not an object',
  ],
  ["package-lock.json", '{"lockfileVersion": 1, "dependencies": {"a": []}}', 'dependencies["a"]: is not an object'],
  ["package-lock.json", '{"lockfileVersion": 3, "packages": {', expect.stringContaining("ends in the middle")],
  ["package-lock.json", "[]", "is JSON, but not an object"],
  ["package-lock.json", "[".repeat(1_000), expect.stringContaining("nested deeper than 128 levels")],
  ["package-lock.json", "  \n", "is empty"],
  ["package-lock.json", new Uint8Array([0x7b, 0xff, 0x7d]), "is not valid UTF-8"],
  [
    "package-lock.json",
    "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    expect.stringContaining("Git LFS"),
  ],
  ["pnpm-lock.yaml", "lockfileVersion: 4.0\n", 'lockfileVersion: is "4.0"; 5 to 9 are read'],
  ["pnpm-lock.yaml", "lockfileVersion: 9.0\nimporters:\n  .: text\n", 'importers["."]: is not a mapping'],
  ["pnpm-lock.yaml", "lockfileVersion: 9.0\nimporters: [\n", expect.stringContaining("cannot be read as YAML")],
  ["yarn.lock", 'a@1:\n  version "1.0.0\n', "line 2: has a quotation mark that is not closed"],
  ["yarn.lock", "  version 1\n", "line 1: is outside of any block"],
  ["yarn.lock", "<<<<<<< HEAD\n", expect.stringContaining('line 1: is "<<<<<<< HEAD" where a block begins')],
  ["yarn.lock", "__metadata:\n  version: 8\n\na: &x [*x]\n", expect.stringContaining("cannot be read as YAML")],
  ["yarn.lock", '__metadata:\n  version: 8\n\n"a@npm:1":\n  version: 1.0.0\n', '"a@npm:1": has no resolution or no version'],
  ["poetry.lock", '[[package]]\nname = "a\n', expect.stringMatching(/^cannot be read as TOML: .*, in line 2$/)],
  ["uv.lock", 'package = "a"\n', "package: is not a list of tables"],
  ["pdm.lock", '[[package]]\nversion = "1"\n', "package[0].name: is missing"],
  ["poetry.lock", `a = ${"[".repeat(5_000)}`, expect.stringContaining("cannot be read as TOML")],
  ["uv.lock", '[[package]]\nname = "a/b"\nversion = "1.0"\n', expect.stringContaining("that is none of PyPI")],
  ["uv.lock", '[[package]]\nname = "a"\nversion = " "\n', 'has a package whose version of "a" is missing'],
  ["Pipfile.lock", '{"default": []}', '"default": is not an object'],
  ["Pipfile.lock", '{"default": {"a": "==1.0"}}', '"default"["a"]: is not an object'],
  ["pom.xml", bomb, expect.stringContaining("it has a document type, which may declare entities")],
  ["pom.xml", "<html/>", "<html>: is its root element; <project> is needed"],
  ["pom.xml", "<project><dependencies>", expect.stringContaining("cannot be read as XML")],
  ["pom.xml", "<a>".repeat(500), expect.stringContaining("too deep")],
  ["gradle.lockfile", "a:b=c\n", 'line 1: is "a:b=c"; "group:artifact:version=configurations" is needed'],
  ["go.mod", "module m\nrequire (\n\ta v1\n", 'ends within the block "require"'],
  ["go.mod", "module m\nrequire a\n", 'line 2: is "a"; a module with its version is needed'],
  ["go.mod", 'module "m\n', "line 1: has a quotation mark that is not closed"],
  ["go.mod", "replace a v1\n", expect.stringContaining("line 1: replaces nothing")],
  ["go.mod", "// nothing\n", "has no directive such as module"],
  ["Cargo.lock", '[[package]]\nname = "a"\n', 'package "a": has no version'],
  ["Gemfile.lock", "GEM\n  specs:\n    a 1.0\n", expect.stringContaining('line 3: is "a 1.0"')],
  ["Gemfile.lock", "GEM\n<<<<<<< HEAD\n", "line 2: is the mark of a merge that is not resolved"],
  ["packages.lock.json", '{"version": 3}', "version: is 3; 1 and 2 are read"],
  [
    "packages.lock.json",
    '{"version": 1, "dependencies": {"net6.0": {"A": {"type": "Direct"}}}}',
    'dependencies["net6.0"]["A"].resolved: is missing',
  ],
  ["packages.config", '<packages><package id="a"/></packages>', "<package> 1: has no id or no version"],
  [
    "project.assets.json",
    '{"version": 3, "targets": {"net8.0": {"A": {}}}}',
    'targets["net8.0"]["A"]: is not a library "name/version"',
  ],
  ["pom.xml", `<project ${attributes}/>`, expect.stringContaining("too many attributes")],
];

test.each(refusals.map(([path, text, reason], n) => ({ n, path, text, reason })))(
  "a faulty $path is refused with the fault and its location ($n)",
  ({ path, text, reason }) => expect<unknown>(refusal(path, text)).toEqual(reason),
);

test("a refusal of pom.xml does not repeat a long name", () => {
  expect(refusal("pom.xml", `<project><${"a".repeat(5_000)}>`).length).toBeLessThan(300);
});
