import { expect, test } from "bun:test";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "../../src/kernel/secret.ts";
import { readSecretsKeys } from "../../src/process/secrets-keys.ts";
import { secretsKeyNamed } from "../support/secrets-key.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const given = secretsKeyNamed("given");
const reveal = (keys: Secret[]) => keys.map((key) => key.reveal());

test("one process makes a key on its first start, for its owner's eyes only, and keeps it", async () => {
  await using folder = await temporaryFolder();
  const made = reveal(readSecretsKeys(null, folder.path));
  expect(made.map((key) => Buffer.from(key, "base64").length)).toEqual([32]);
  expect(statSync(join(folder.path, "secrets-key")).mode & 0o777).toBe(0o600);
  expect(reveal(readSecretsKeys(null, folder.path))).toEqual(made);
});

test("keys that are given seal from then on, and what the file's key sealed still opens", async () => {
  await using folder = await temporaryFolder();
  const made = reveal(readSecretsKeys(null, folder.path));
  expect(reveal(readSecretsKeys([new Secret(given)], folder.path))).toEqual([given, ...made]);
});

test("where keys are given from the beginning no file is made", async () => {
  await using folder = await temporaryFolder();
  expect(reveal(readSecretsKeys([new Secret(given)], folder.path))).toEqual([given]);
  expect(() => statSync(join(folder.path, "secrets-key"))).toThrow();
});

test("the file may hold several keys, the first of which seals; one that holds none stops the start", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "secrets-key");
  const [made = ""] = reveal(readSecretsKeys(null, folder.path));
  writeFileSync(path, `${given}\n${made}\n`);
  expect(reveal(readSecretsKeys(null, folder.path))).toEqual([given, made]);
  for (const broken of ["", "\n", "short", readFileSync(path, "utf8").slice(1)]) {
    writeFileSync(path, broken);
    expect(() => readSecretsKeys(null, folder.path)).toThrow("holds no keys");
  }
  rmSync(path);
});

test("a file whose first key can be guessed stops the start, and is told how to go on", async () => {
  await using folder = await temporaryFolder();
  const zeros = Buffer.alloc(32).toString("base64");
  const path = join(folder.path, "secrets-key");
  writeFileSync(path, `${zeros}\n`);
  expect(() => readSecretsKeys(null, folder.path)).toThrow(`The first key of the file "${path}" can be guessed: put one`);
  writeFileSync(path, `${given}\n${zeros}\n`);
  expect(reveal(readSecretsKeys(null, folder.path))).toEqual([given, zeros]);
});
