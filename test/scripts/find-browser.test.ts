import { expect, test } from "bun:test";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findBrowser } from "../../scripts/services/find-browser.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function putProgram(folder: string, name = "chromium"): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), "#!/bin/sh\n");
  await chmod(join(folder, name), 0o755);
}

const never = async (): Promise<void> => {
  throw new Error("No installation is expected");
};

test("the tests use a browser on PATH without installing anything", async () => {
  await using folder = await temporaryFolder();
  await putProgram(join(folder.path, "bin"));
  const found = await findBrowser({ path: `/none:${join(folder.path, "bin")}`, install: never });
  expect(found).toEqual({ path: join(folder.path, "bin/chromium") });
});

test("the tests prefer the browser without windows, wherever it is on PATH", async () => {
  await using folder = await temporaryFolder();
  await putProgram(join(folder.path, "first"));
  await putProgram(join(folder.path, "second"), "chromium-headless-shell");
  const found = await findBrowser({ path: `${join(folder.path, "first")}:${join(folder.path, "second")}`, install: never });
  expect(found).toEqual({ path: join(folder.path, "second/chromium-headless-shell") });
});

test("the tests install a browser where they can, and use it", async () => {
  await using folder = await temporaryFolder();
  const found = await findBrowser({ path: folder.path, install: () => putProgram(folder.path) });
  expect(found).toEqual({ path: join(folder.path, "chromium") });
});

test.each([null, async () => {}])("the message names the package to install where there is no browser", async (install) => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "chromium"), "no program");
  expect(await findBrowser({ path: folder.path, install })).toEqual({ missing: expect.stringContaining("install Chromium") });
});
