import { expect, test } from "bun:test";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { originOf, packedRepository } from "../../../scripts/weir/packed-repository.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { EventLoopYielder } from "../../../src/process/event-loop-yielder.ts";
import { archiveFiles, folderFiles } from "../../../src/security/repositories/repository-files.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const config = (url: string) =>
  `[core]\n\tbare = false\n[remote "origin"]\n\turl = ${url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n`;

test("a folder gives only its lock files, without links and installed packages", async () => {
  await using folder = await temporaryFolder();
  await using outside = await temporaryFolder();
  await write(outside.path, { "secret/package-lock.json": "{}", "yarn.lock": "secret" });
  await write(folder.path, {
    "package-lock.json": "{}",
    "src/index.ts": "",
    "services/api/go.mod": "module m\n",
    "node_modules/a/package-lock.json": "{}",
    "services/api/vendor/x/go.mod": "module x\n",
    ".git/package-lock.json": "{}",
    "app/bun.lockb": "binary",
    "node_modules/b/composer.lock": "{}",
  });
  await symlink(join(outside.path, "secret"), join(folder.path, "linked"));
  await symlink(join(outside.path, "yarn.lock"), join(folder.path, "services", "yarn.lock"));
  const { files, refused } = await folderFiles(folder.path);
  expect(files.map(({ path }) => path).toSorted()).toEqual(["package-lock.json", "services/api/go.mod"]);
  expect(refused.toSorted((one, other) => one.path.localeCompare(other.path))).toEqual([
    { path: "app/bun.lockb", reason: expect.stringContaining("bun install --save-text-lockfile") },
    { path: "services/yarn.lock", reason: "is a link, and links are not followed" },
  ]);
});

test("a checkout is sent as its lock files, named after where it came from", async () => {
  await using folder = await temporaryFolder();
  await write(folder.path, {
    "go.mod": "module m\n",
    "main.go": "package main",
    ".git/config": config("git@github.com:acme/app.git"),
  });
  const { body, ...said } = await packedRepository(folder.path);
  expect(said).toEqual({ name: "acme/app", provider: "git", repository: "https://github.com/acme/app", refused: [] });
  expect((await archiveFiles({ bytes: body, yielder: new EventLoopYielder(systemClock) })).files).toEqual([
    { path: "go.mod", bytes: Buffer.from("module m\n") },
  ]);
});

test("a folder without git is named after itself, an archive after its file", async () => {
  await using folder = await temporaryFolder();
  await write(folder.path, { "shop/go.mod": "module m\n", "shop-1.2.tar.gz": "any" });
  expect(await packedRepository(join(folder.path, "shop"))).toMatchObject({
    name: "shop",
    provider: "archive",
    repository: null,
  });
  expect(await packedRepository(join(folder.path, "shop-1.2.tar.gz"))).toMatchObject({
    name: "shop-1.2",
    body: new Uint8Array(Buffer.from("any")),
  });
  expect(packedRepository(join(folder.path, "none"))).rejects.toThrow(/^Cannot read ".*none": /);
  await mkdir(join(folder.path, "empty"));
  expect(packedRepository(join(folder.path, "empty"))).rejects.toThrow(/^There is no lock file in ".*empty"$/);
});

test.each([
  ["https://github.com/acme/app.git", "https://github.com/acme/app"],
  ["https://user:token@gitlab.com/acme/tools/app/", "https://gitlab.com/acme/tools/app"],
  ["git@gitlab.com:acme/app.git", "https://gitlab.com/acme/app"],
  ["ssh://git@github.com/acme/app", "https://github.com/acme/app"],
  ["/srv/git/app.git", null],
  ["../app", null],
  ["file:///srv/git/app.git", null],
])("the origin %s is shown as %p", (url, shown) => {
  expect(originOf(config(url))).toBe(shown);
});
