import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../../src/config.ts";
import { secretText, ConfigError } from "../../../src/process/environment/variables.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";

let folder: TemporaryFolder;
beforeAll(async () => void (folder = await temporaryFolder()));
afterAll(() => folder[Symbol.asyncDispose]());

/** @returns the path of a new file */
function fileOf(text: string, mode = 0o400): string {
  const path = join(folder.path, crypto.randomUUID());
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

test("a secret comes from the file that its variable names, without the line end, if owner and group alone may read it", () => {
  for (const mode of [0o400, 0o600, 0o440, 0o640]) {
    expect(secretText({ NATS_URL_FILE: fileOf("tls://bus:4222\n", mode) }, "NATS_URL")).toBe("tls://bus:4222");
  }
  const config = readConfig({ OPERATOR_TOKEN_FILE: fileOf("t".repeat(32)), ACME_API_KEY_FILE: fileOf("sk-acme") });
  expect([config.operatorToken?.reveal(), config.environmentKey("ACME_API_KEY")?.reveal()]).toEqual(["t".repeat(32), "sk-acme"]);
});

test("a file that is missing, empty, too large or open to every user is refused by the variable's and the file's name", () => {
  const bad = [
    { path: join(folder.path, "none"), says: "cannot be read: ENOENT" },
    { path: fileOf(" \n"), says: "is empty" },
    { path: fileOf("x".repeat(65_537)), says: "is larger than 65536 bytes" },
    { path: fileOf("hush", 0o644), says: "every user may access (mode 644)" },
  ];
  for (const { path, says } of bad) {
    const attempt = (): unknown => readConfig({ STRIPE_SECRET_KEY_FILE: path });
    expect(attempt).toThrow(ConfigError);
    expect(attempt).toThrow(`STRIPE_SECRET_KEY_FILE names "${path}", which ${says}`);
    expect(attempt).not.toThrow("hush");
  }
});

test("a start is refused by a provider key's file that cannot be read, not the first request", () => {
  expect(() => readConfig({ ACME_API_KEY_FILE: "/nowhere" })).toThrow("ACME_API_KEY_FILE");
});

test("a variable and its file exclude each other", () => {
  const both = { SMTP_URL: "smtp://mail", SMTP_URL_FILE: fileOf("smtp://other") };
  expect(() => readConfig(both)).toThrow("SMTP_URL and SMTP_URL_FILE are set: set one of them");
});
