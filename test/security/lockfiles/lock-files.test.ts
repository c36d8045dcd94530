/** Lock files as the tools write them, with all that is read from them, and files with a fault. */
import { describe, expect, test } from "bun:test";
import { readLockFiles } from "../../../src/security/lockfiles/read-lock-files.ts";
import { threadMs } from "../../support/processes/thread-time.ts";
import { fileOf, needsIn, packagesIn, read, refusal } from "./lock-text.ts";
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
  ["bun.lock", '{"lockfileVersion": 3,}', "lockfileVersion: is 3; 0 to 2 are read"],
  ["bun.lock", '{"lockfileVersion": 1, "packages": {"a": ["a"],}}', 'packages["a"]: does not begin with "name@version"'],
  ["bun.lock", '{"lockfileVersion": 1, "workspaces": {"": []}}', 'workspaces[""]: is not an object'],
  [
    "bun.lock",
    `{"lockfileVersion": 1, "packages": {"${"a/".repeat(64)}a": ["a@1.0.0"]}}`,
    expect.stringContaining("is more than 64 packages deep"),
  ],
  ["bun.lock", '{"lockfileVersion": 1, /* open', expect.stringContaining("ends in the middle")],
  ["pylock.toml", 'created-by = "uv"\n', "lock-version: is null; 1.0 is read"],
  ["pylock.toml", 'lock-version = "2.0"\n', 'lock-version: is "2.0"; 1.0 is read'],
  ["pylock.toml", 'lock-version = "1.0"\n[[packages]]\nversion = "1"\n', "packages[0].name: is missing"],
  ["requirements.txt", "-r a.txt\n".repeat(201), "includes more than 200 files"],
  ["requirements.txt", new Uint8Array([0xff, 0xfe, 0x61]), "is not valid UTF-16LE, as its mark says"],
  ["requirements.txt", new Uint8Array([0x61, 0x00, 0x61]), "is not valid UTF-16LE, as its zeros say"],
  ["pom.xml", '<?xml version="1.0" encoding="martian"?><project/>', 'declares the encoding "martian", which is not known'],
  ["pom.xml", new Uint8Array([0x3c, 0xe9, 0x3e]), "is not valid UTF-8"],
  ["go.mod", new Uint8Array([0x6d, 0xe9]), "is not valid UTF-8"],
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

test("a pnpm-lock.yaml of a project without dependencies has none, though its first document pins pnpm itself", () => {
  const first = "importers:\n  .:\n    configDependencies: {}\npackages:\n  pnpm@11.0.0: {}\nsnapshots:\n  pnpm@11.0.0: {}\n";
  const file = read("pnpm-lock.yaml", `---\nlockfileVersion: '9.0'\n${first}---\n`);
  expect(file).toMatchObject({ packages: [], needs: [], skipped: [] });
});

test.each([
  ["go 1.21\n\ntoolchain go1.22.1", ["stdlib@1.22.1 direct -"]],
  ["toolchain go1.21.3-acme\ngo 1.21", ["stdlib@1.21.3 direct -"]],
  ["go 1.22.4\ntoolchain default", ["stdlib@1.22.4 direct -"]],
  ["go 1.23rc1", ["stdlib@1.23rc1 direct -"]],
  ["go 1.20 // the oldest", ["stdlib@1.20 direct -"]],
  ["", "stdlib"],
  ["go", "stdlib"],
  ["toolchain local", "stdlib"],
])("Go's standard library counts where it is asked for, by go.mod's toolchain, else its go line: %j", (lines, expected) => {
  const file = fileOf("go.mod", `module m\n${lines}\n`);
  const [asked] = readLockFiles([file], { goToolchain: true }).read;
  if (asked === undefined) throw new Error("go.mod was not read");
  if (Array.isArray(expected)) expect<string[]>(packagesIn(asked)).toEqual(expected);
  else expect<unknown>(asked).toMatchObject({ packages: [], skipped: [{ name: expected, reason: expect.any(String) }] });
  expect(readLockFiles([file]).read).toMatchObject([{ packages: [], skipped: [] }]);
});

const properties = "<properties><a>${b}${b}</a><b>${a}${a}</b></properties>";
const dependency = "<dependency><groupId>g</groupId><artifactId>a</artifactId><version>${a}</version></dependency>";
const ownLock = { "": { dependencies: { a: "1" } }, "node_modules/a": { version: "1.0.0", dependencies: { a: "1" } } };
test.each([
  ["pom.xml", `<project>${properties}<dependencies>${dependency}</dependencies></project>`, []],
  ["package-lock.json", JSON.stringify({ lockfileVersion: 3, packages: ownLock }), ["a@1.0.0 direct required"]],
  [
    "package-lock.json",
    JSON.stringify({ lockfileVersion: 3, packages: { "node_modules/l": { link: true, resolved: "node_modules/l" } } }),
    [],
  ],
  ["yarn.lock", 'a@*:\n  version "1.0.0"\n  dependencies:\n    a "*"\n', ["a@1.0.0 direct -"]],
  [
    "bun.lock",
    '{"lockfileVersion": 1, "workspaces": {"": {"dependencies": {"a": "1"}}}, "packages": {"a": ["a@1.0.0", "", {"dependencies": {"a": "1"}}, ""]}}',
    ["a@1.0.0 direct -"],
  ],
  ["poetry.lock", '[[package]]\nname = "a"\nversion = "1.0"\n[package.dependencies]\na = "*"\n', ["a@1.0 direct -"]],
  ["Gemfile.lock", "GEM\n  specs:\n    a (1.0)\n      a\n\nDEPENDENCIES\n  a\n", ["a@1.0 direct -"]],
  ["go.mod", "module m\nrequire m v1.0.0\nreplace m => m v1.0.1\n", ["m@v1.0.1 direct -"]],
  ["requirements.txt", "-r requirements.txt\n-c requirements.txt\na==1.0\n", ["a@1.0 direct -"]],
])("a %s that includes itself, or a package that needs itself, is read once and ends", (path, text, packages) => {
  expect<string[]>(packagesIn(read(path, text))).toEqual(packages);
});

test("YAML that holds itself by an alias is refused", () => {
  expect(refusal("pnpm-lock.yaml", "lockfileVersion: '9.0'\nimporters: &x\n  .: *x\n")).toContain("cannot be read as YAML");
});

describe("requirement files that include others", () => {
  const requirements = (files: Record<string, string>) =>
    readLockFiles(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  const told = (files: Record<string, string>) =>
    requirements(files).read.map(({ path, packages, skipped }) => ({
      path,
      packages: packages.map(({ name, version }) => `${name}@${version}`),
      skipped: skipped.map(({ name }) => name),
    }));

  test("are each read once, also when they include themselves and one another", () => {
    expect(
      told({
        "requirements.txt": "-r requirements.txt\n-r requirements/a.txt\n-c constraints.txt\n",
        "requirements/a.txt": "-r b.txt\none==1.0\n",
        "requirements/b.txt": "-r a.txt\n-r ../requirements.txt\ntwo\n",
        "constraints.txt": "-c constraints.txt\ntwo==2.0\nthree==3.0\n",
      }),
    ).toEqual([
      { path: "requirements.txt", packages: [], skipped: [] },
      { path: "requirements/a.txt", packages: ["one@1.0"], skipped: [] },
      { path: "requirements/b.txt", packages: ["two@2.0"], skipped: [] },
    ]);
  });

  test("may include a file of constraints as requirements, and each version that constraints give counts", () => {
    expect(
      told({
        "a-requirements.txt": "-r constraints.txt\n-c old-constraints.txt\n",
        "b-requirements.txt": "one\n-c constraints.txt\n-c old-constraints.txt\n",
        "constraints.txt": "one==1.1\n",
        "old-constraints.txt": "one==1.0 ; python_version < '3.8'\n",
        "unused/constraints.txt": "other==1.0\n",
      }),
    ).toEqual([
      { path: "a-requirements.txt", packages: [], skipped: [] },
      { path: "b-requirements.txt", packages: ["one@1.0", "one@1.1"], skipped: [] },
      { path: "constraints.txt", packages: ["one@1.1"], skipped: [] },
    ]);
  });

  test("name a file of constraints that cannot be read, and go on", () => {
    const { read: found, failed } = readLockFiles([
      fileOf("requirements.txt", "-c constraints.txt\none==1.0\n"),
      { path: "constraints.txt", bytes: new Uint8Array([0xff, 0xfe, 0x61]) },
    ]);
    expect(failed).toEqual([]);
    expect(found[0]).toMatchObject({
      packages: [{ name: "one" }],
      skipped: [{ name: "-c constraints.txt", reason: "the file is not valid UTF-16LE, as its mark says" }],
    });
  });

  test("are bounded: too many files of constraints are refused, and many files that all include one another end quickly", () => {
    const names = Array.from({ length: 199 }, (_, n) => `${n}`);
    const all = names.map((name) => `-r ${name}.txt\n`).join("");
    const circle = Object.fromEntries(
      names.map((name) => [`requirements/${name}.txt`, `${all}-c constraints-${name}.txt\nloose\n`]),
    );
    const constraints = Object.fromEntries(names.map((name) => [`requirements/constraints-${name}.txt`, "loose==1.0\n"]));
    const reading = () => {
      const { read: found, failed } = requirements({ ...circle, ...constraints });
      expect({ found: found.length, reasons: new Set(failed.map(({ reason }) => reason)) }).toEqual({
        found: 0,
        reasons: new Set(["has more than 16 files of constraints"]),
      });
    };
    expect(threadMs(reading, 2_000)).toBeLessThan(2_000);
  });
});

describe("a lock file is read in the encoding of its tool", () => {
  const utf16 = (text: string, bigEndian = false) => {
    const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
    return bigEndian ? bytes.swap16() : bytes;
  };
  const pom = (declared: string) =>
    `<?xml version="1.0" ${declared}?><project><!-- é --><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId><version>1.0</version></dependency></dependencies></project>`;
  const latin1 = (text: string) => Buffer.from(text, "latin1");

  test.each<[string, string, Uint8Array]>([
    ["PowerShell's UTF-16", "requirements.txt", utf16("a==1.0\r\n")],
    ["UTF-16 with the high byte first", "requirements.txt", utf16("a==1.0\r\n", true)],
    ["UTF-16 without a mark", "requirements.txt", utf16("a==1.0\r\n").subarray(2)],
    ["UTF-16 without a mark, the high byte first", "requirements.txt", utf16("a==1.0\r\n", true).subarray(2)],
    ["UTF-16 of XML without a mark", "pom.xml", utf16(pom('encoding="utf-16"')).subarray(2)],
    ["UTF-16 of a lock file of JSON", "Pipfile.lock", utf16('{"default": {"a": {"version": "==1.0"}}}')],
    ["UTF-8 with a mark", "requirements.txt", Buffer.from("\ufeffa==1.0\n")],
    ["Latin-1 without a word", "requirements.txt", latin1("# caf\u00e9\na==1.0\n")],
    ["an encoding in a comment", "requirements.txt", latin1("#!/x\n# -*- coding: latin-1 -*- \u00e9\na==1.0\n")],
    ["an unknown encoding in a comment", "requirements.txt", Buffer.from("# coding=martian \u00e9\na==1.0\n")],
    ["XML's ISO-8859-1", "pom.xml", latin1(pom('encoding="ISO-8859-1"'))],
    ["XML's windows-1252 in single quotes", "pom.xml", latin1(pom("encoding='windows-1252' standalone='yes'"))],
    ["XML's UTF-16", "pom.xml", utf16(pom('encoding="UTF-16"'))],
    ["XML that says UTF-16 and is UTF-8, as .NET saves it", "pom.xml", Buffer.from(pom('encoding="utf-16"'))],
  ])("%s", (_, path, bytes) => {
    const { read: found, failed } = readLockFiles([{ path, bytes }]);
    expect(failed).toEqual([]);
    expect(found.flatMap(({ packages }) => packages)).toMatchObject([
      { name: expect.stringMatching(/^(?:g:)?a$/), version: "1.0" },
    ]);
  });
});
