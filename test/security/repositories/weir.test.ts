/** Repositories on the command line, as a person types it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zipOf } from "../../support/security/archives.ts";
import { SecurityWorld } from "../../support/security/security-world.ts";
import { startGitlab } from "./gitlab-stub.ts";
import { openCommandLine, type CommandLine } from "../../support/command-line.ts";

let line: CommandLine;
let world: SecurityWorld;
beforeAll(async () => {
  line = await openCommandLine();
  const { database, control } = line;
  const [{ id = "" } = {}] = await database.sql<{ id: string }[]>`SELECT id FROM workspaces`;
  world = new SecurityWorld({ sql: database.sql, clock: control.clock, workspace: id });
}, 60_000);
afterAll(() => line[Symbol.asyncDispose]());

const gemfileLock = "GEM\n  remote: https://rubygems.org/\n  specs:\n    rack (3.0.8)\n\nDEPENDENCIES\n  rack\n";

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(join(line.folder, path, ".."), { recursive: true });
  await writeFile(join(line.folder, path), content);
}

const importing = (source: string, ...more: string[]) => ["repository", "import", source, "--workspace", "w", ...more];

describe("repository import", () => {
  test("imports a checkout: only its lock files, under the address of its origin", async () => {
    await write("shop/Gemfile.lock", gemfileLock);
    await write("shop/secrets.txt", "canary-of-the-checkout");
    await write("shop/.git/config", '[remote "origin"]\n\turl = https://token@git.example.com/acme/shop.git\n');
    const stored = await line.weir.json(...importing(join(line.folder, "shop")));
    expect(stored).toMatchObject({
      project: "acme/shop",
      provider: "git",
      repository: "https://git.example.com/acme/shop",
      components: 2,
      lock_files: [{ path: "Gemfile.lock", ecosystem: "rubygems", packages: 1, not_pinned: 0 }],
    });
    expect(await line.weir.json(...importing(join(line.folder, "shop"), "--project", "acme/shop"))).toMatchObject({
      sbom_id: stored["sbom_id"],
    });
  });

  test("imports an archive, and prints a report for people", async () => {
    await write(
      "app.zip",
      zipOf([
        { name: "app-1/Gemfile.lock", text: gemfileLock },
        { name: "app-1/Cargo.lock", text: "[[" },
        { name: "app-1/composer.lock", text: "{}" },
      ]),
    );
    const { code, out, error } = await line.weir.run(...importing(join(line.folder, "app.zip")));
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^Project app \(prj_\w+\), scan pending\nGemfile\.lock: 1 packages\n?$/),
    });
    expect(error).toStartWith("Warning: Cargo.lock: cannot be read as TOML");
    expect(error).toContain("Warning: composer.lock: is of PHP, whose packages are not watched");
  });

  test("names the lock files of a folder that it does not send, also if there is no other", async () => {
    await write("php/composer.lock", "{}");
    const alone = await line.weir.run(...importing(join(line.folder, "php")));
    expect(alone).toMatchObject({ code: 1, error: expect.stringContaining("composer.lock is of PHP") });
    await write("php/Gemfile.lock", gemfileLock);
    const { code, error } = await line.weir.run(...importing(join(line.folder, "php")));
    expect({ code, error: error.trim() }).toEqual({
      code: 0,
      error: "Not read: composer.lock is of PHP, whose packages are not watched",
    });
  });

  test("says what is not watched, beside the verdict of a gate too", async () => {
    await write(
      "snake/requirements.txt",
      `a==1.0\n-r missing.txt\n${Array.from({ length: 30 }, (_, n) => `loose-${n}\n`).join("")}`,
    );
    const source = join(line.folder, "snake");
    const gated = await world.scanWhile(line.weir.run(...importing(source, "--fail-on", "high")));
    const sarif = await line.weir.run(...importing(source, "--format", "sarif"));
    expect(sarif.out).toContain("-r missing.txt: is not watched: the file is not among those that are read");
    for (const { error } of [gated, await line.weir.run(...importing(source))]) {
      expect(error).toContain(
        "Warning: requirements.txt: loose-0: is not watched: it is not pinned to an exact version (and 29 more)\n" +
          "Warning: requirements.txt: -r missing.txt: is not watched: the file is not among those that are read\n",
      );
    }
  });

  test("counts Go's standard library with --go-toolchain, from a folder and from an address", async () => {
    const goMod = "module m\n\ngo 1.21\n\ntoolchain go1.22.1\n";
    await write("gopher/go.mod", goMod);
    const folder = join(line.folder, "gopher");
    expect(await line.weir.json(...importing(folder))).toMatchObject({ lock_files: [{ packages: 0 }] });
    expect(await line.weir.json(...importing(folder, "--go-toolchain"))).toMatchObject({ lock_files: [{ packages: 1 }] });
    await using stub = startGitlab({ "go.mod": goMod });
    line.control.platforms.hostUrls.gitlab = stub.url;
    const address = importing("https://gitlab.com/acme/tools/app", "--project", "gopher");
    expect(await line.weir.json(...address, "--go-toolchain")).toMatchObject({ lock_files: [{ packages: 1 }] });
    expect(await line.weir.json(...address)).toMatchObject({ lock_files: [{ packages: 0 }] });
  });

  test("imports an address through the service", async () => {
    await using stub = startGitlab({ "Gemfile.lock": gemfileLock });
    line.control.platforms.hostUrls.gitlab = stub.url;
    const stored = await line.weir.json(...importing("https://gitlab.com/acme/tools/app", "--project", "app"));
    expect(stored).toMatchObject({ provider: "gitlab", project: "app" });
  });

  test.each([
    [["repository", "import", "--workspace", "w"], 2],
    [importing("/nowhere/at/all"), 1],
    [importing("https://git.example.com/acme/app"), 1],
    [importing("."), 1],
  ])("exits %p with %d and the reason", async (words, code) => {
    const started = words.map((word) => (word === "." ? join(line.folder, "empty") : word));
    await mkdir(join(line.folder, "empty"), { recursive: true });
    const ended = await line.weir.run(...started);
    expect({ code: ended.code, out: ended.out }).toEqual({ code, out: "" });
    expect(ended.error).toMatch(/^weir: [^]{20,}/);
  });
});
