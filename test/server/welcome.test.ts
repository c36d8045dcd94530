import { expect, spyOn, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { greetingText, welcome } from "../../src/server/welcome.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const address = { publicUrl: "http://127.0.0.1:8080", sandbox: true, slug: "acme" };

test("a start prints the addresses of the pages, and the link to sign in if there is one", () => {
  const text = greetingText(address, { first: null });
  for (const path of ["/", "/connectors", "/reference"]) expect(text).toContain(`\n  http://127.0.0.1:8080${path} `);
  expect(text).not.toContain("Sign in");
  const signInUrl = "http://127.0.0.1:8080/console/link/once";
  expect(greetingText(address, { first: null, signInUrl })).toContain(`works once:\n\n  ${signInUrl}\n`);
});

test("with FIRST_KEYS=file neither keys nor links are printed: files that only the owner can read have them", async () => {
  await using folder = await temporaryFolder();
  const config = { ...address, dataDir: folder.path, firstKeys: "file" } as const;
  const signInUrl = "http://127.0.0.1:8080/console/link/once";
  const first = { key: "acme-api-hush", toolsKey: "acme-mcp-hush" };
  using printed = spyOn(console, "log").mockImplementation(() => {});
  welcome(config, { first, signInUrl });
  welcome(config, { first: null, signInUrl });
  const output = printed.mock.calls.join("\n");
  expect(output).toContain("Weir is ready at http://127.0.0.1:8080");
  for (const name of ["first-keys", "sign-in-link"]) {
    expect(output).toContain(`"${join(folder.path, name)}"`);
    expect(statSync(join(folder.path, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder.path, name), "utf8")).toContain(signInUrl);
  }
  expect(readFileSync(join(folder.path, "first-keys"), "utf8")).toMatch(/acme-api-hush[^]*acme-mcp-hush/);
  expect(output).not.toMatch(/hush|link\/once/);
});
