import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { packedFiles } from "../../../scripts/weir/packed-repository.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { turnMicroseconds } from "../../../src/process/limits.ts";
import { lockFileBytesMax, repositoryFilesMax } from "../../../src/security/limits.ts";
import { archiveFiles as filesOf, repositoryBudget } from "../../../src/security/repositories/repository-files.ts";
import { EventLoopYielder } from "../../../src/process/event-loop-yielder.ts";
import { tarOf, zipOf } from "../../support/security/archives.ts";
import { refusalOf } from "./fetched.ts";

const app = [
  { name: "app-1a2b3c/README.md", text: "# app" },
  { name: "app-1a2b3c/package-lock.json", text: "{}" },
  { name: "app-1a2b3c/api/go.mod", text: "module m\n" },
  { name: "app-1a2b3c/node_modules/a/package-lock.json", text: "{}" },
  { name: "app-1a2b3c/vendor/github.com/x/go.mod", text: "module x\n" },
];

const kinds = [
  ["zip", zipOf(app)],
  ["zip written to a stream", zipOf(app.map((file) => ({ ...file, streamed: true })))],
  ["tar", tarOf(app)],
  ["tar.gz", gzipSync(tarOf(app))],
] as const;

const archiveFiles = (archive: Uint8Array, budget = repositoryBudget) =>
  filesOf({ bytes: archive, yielder: new EventLoopYielder(systemClock) }, budget);
const pathsIn = async (archive: Uint8Array) => (await archiveFiles(archive)).files.map(({ path }) => path);

test.each(kinds)("a %s gives its lock files, without the folder that all are in", async (_, archive) => {
  const { files, refused } = await archiveFiles(archive);
  expect(files.map(({ path, bytes }) => `${path}: ${Buffer.from(bytes)}`)).toEqual([
    "package-lock.json: {}",
    "api/go.mod: module m\n",
  ]);
  expect(refused).toEqual([]);
});

test("folders stay in the paths if there are files next to them", async () => {
  const files = [
    { name: "./web/yarn.lock", text: "" },
    { name: "./README", text: "" },
  ];
  expect(await pathsIn(tarOf(files))).toEqual(["web/yarn.lock"]);
  expect(
    await pathsIn(
      zipOf([
        { name: "a/yarn.lock", text: "" },
        { name: "b/yarn.lock", text: "" },
      ]),
    ),
  ).toEqual(["a/yarn.lock", "b/yarn.lock"]);
});

test("an archive of the command line keeps its files, with any names", async () => {
  const paths = ["package-lock.json", `${"long/".repeat(60)}yarn.lock`, "Ünïcode/日本/go.mod", "9".repeat(95) + "/pom.xml"];
  const files = paths.map((path) => ({ path, bytes: randomBytes(700) }));
  expect(
    (await archiveFiles(await packedFiles(files))).files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString("hex")]),
  ).toEqual(files.map(({ path, bytes }) => [path, bytes.toString("hex")]));
});

test("links are reported and not followed, and lock files that are not supported are named", async () => {
  const archive = tarOf([
    { name: "a/package-lock.json", text: "", type: "2" },
    { name: "a/yarn.lock", text: "x" },
    { name: "a/bun.lockb", text: "binary" },
  ]);
  const { files, refused } = await archiveFiles(archive);
  expect(files.map(({ path }) => path)).toEqual(["yarn.lock"]);
  expect(refused).toEqual([
    { path: "package-lock.json", reason: "is a link, and links are not followed" },
    { path: "bun.lockb", reason: expect.stringContaining("bun.lock that is read") },
  ]);
});

describe("an archive is refused", () => {
  test.each(["../package-lock.json", "a/../../b.txt", "/etc/passwd", "C:\\go.mod", "..\\go.mod"])(
    "with an entry named %s",
    async (name) => {
      for (const archive of [zipOf([{ name, text: "{}" }]), tarOf([{ name, text: "{}" }])]) {
        expect(await refusalOf(archiveFiles(archive))).toStartWith("The archive is refused: its entry");
      }
    },
  );

  test.each(kinds.map(([kind, archive]) => [kind, archive] as const))("that is a truncated %s", async (_, archive) => {
    for (const share of [0.3, 0.6, 0.8]) {
      const cut = archive.subarray(0, Math.floor(archive.length * share));
      expect(await refusalOf(archiveFiles(cut))).toMatch(
        /^The (?:archive .*: create it again and upload all of it|file is not a supported archive)/,
      );
    }
  });

  test("that is not an archive", async () => {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from("{}"),
      gzipSync("{}"),
      randomBytes(2_000),
      Buffer.from("Rar!\u001a\u0007"),
    ]) {
      expect(await refusalOf(archiveFiles(bytes))).toMatch(
        /^The (?:file is not a supported archive: zip, tar and tar\.gz are|archive )/,
      );
    }
  });

  test("that would grow without bound", async () => {
    const zeros = "0".repeat(20 * 1024 * 1024);
    const bomb = zipOf([
      { name: "x", text: zeros },
      { name: "go.mod", text: zeros },
    ]);
    expect(await refusalOf(archiveFiles(bomb))).toBe("The archive grows to more than 200 times its size when it is unpacked");
    expect(await refusalOf(archiveFiles(gzipSync(tarOf([{ name: "x", text: zeros }]))))).toContain(
      "grows to more than 200 times",
    );
    const many = tarOf(Array.from({ length: 50 }, (_, index) => ({ name: `${index}`, text: "" })));
    expect(await refusalOf(archiveFiles(many, { ...repositoryBudget, entriesMax: 40 }))).toContain("has more than 40 entries");
    const files = Array.from({ length: repositoryFilesMax + 1 }, (_, index) => ({ name: `${index}/go.mod`, text: "module m" }));
    expect(await refusalOf(archiveFiles(tarOf(files)))).toContain(`has more than ${repositoryFilesMax} lock files`);
  });
});

test("a lock file that is too large is skipped and reported", async () => {
  const large = `${randomBytes(lockFileBytesMax / 2 + 1).toString("hex")}`;
  const { files, refused } = await archiveFiles(
    tarOf([
      { name: "a/yarn.lock", text: large },
      { name: "a/go.mod", text: "module m" },
    ]),
  );
  expect(files.map(({ path }) => path)).toEqual(["go.mod"]);
  expect(refused).toEqual([{ path: "yarn.lock", reason: "is larger than 32 MiB" }]);
});

test("an archive yields to other work after each 64 KiB", async () => {
  const source = { name: "app/main.c", text: "x".repeat(2_000_000) };
  const archive = tarOf([source, { name: "app/go.mod", text: "module m\n" }, source]);
  let time = 0;
  let yields = 0;
  const endOfTurn = (callback: () => void) => {
    yields++;
    return systemClock.endOfTurn(callback);
  };
  const { files } = await filesOf({
    bytes: archive,
    yielder: new EventLoopYielder({ ...systemClock, monotonic: () => (time += turnMicroseconds / 1_000), endOfTurn }),
  });
  expect(files.map(({ path }) => path)).toEqual(["go.mod"]);
  expect(yields).toBeGreaterThanOrEqual(Math.floor(archive.length / 65_536));
});
