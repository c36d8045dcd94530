import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { Secret } from "../../src/kernel/secret.ts";
import { readSecretsKeys, readOperatorToken } from "../../src/process/own-secrets.ts";
import { secretsKeyNamed } from "../support/secrets-key.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const given = secretsKeyNamed("given");
const reveal = (keys: Secret[]) => keys.map((key) => key.reveal());

test("the first start of one process creates a key that only its owner can read, and later starts keep it", async () => {
  await using folder = await temporaryFolder();
  const made = reveal(readSecretsKeys(null, folder.path));
  expect(made.map((key) => Buffer.from(key, "base64").length)).toEqual([32]);
  expect(statSync(join(folder.path, "secrets-key")).mode & 0o777).toBe(0o600);
  expect(reveal(readSecretsKeys(null, folder.path))).toEqual(made);
});

test("configured keys seal from then on, and the file's key still opens what it sealed", async () => {
  await using folder = await temporaryFolder();
  const made = reveal(readSecretsKeys(null, folder.path));
  expect(reveal(readSecretsKeys([new Secret(given)], folder.path))).toEqual([given, ...made]);
});

test("no file is created when keys are configured from the beginning", async () => {
  await using folder = await temporaryFolder();
  expect(reveal(readSecretsKeys([new Secret(given)], folder.path))).toEqual([given]);
  expect(() => statSync(join(folder.path, "secrets-key"))).toThrow();
});

test("the file may hold several keys, of which the first seals; a file without keys stops the start", async () => {
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

test("a file whose first key can be guessed stops the start, and the error explains the remedy", async () => {
  await using folder = await temporaryFolder();
  const zeros = Buffer.alloc(32).toString("base64");
  const path = join(folder.path, "secrets-key");
  writeFileSync(path, `${zeros}\n`);
  expect(() => readSecretsKeys(null, folder.path)).toThrow(`The first key of the file "${path}" can be guessed: put one`);
  writeFileSync(path, `${given}\n${zeros}\n`);
  expect(reveal(readSecretsKeys(null, folder.path))).toEqual([given, zeros]);
});

test("the first start creates a token that only its owner can read, and later starts keep it", async () => {
  await using folder = await temporaryFolder();
  const token = readOperatorToken(null, folder.path).reveal();
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(join(folder.path, "operator-token")).mode & 0o777).toBe(0o600);
  expect(readOperatorToken(null, folder.path).reveal()).toBe(token);
});

test("a token file that is too short stops the start, and the error names the file", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "operator-token");
  for (const short of ["", "\n", "x", "x".repeat(31)]) {
    writeFileSync(path, short);
    expect(() => readOperatorToken(null, folder.path)).toThrow(
      `The file "${path}" holds no operator token of at least 32 characters`,
    );
  }
  writeFileSync(path, "x".repeat(32));
  expect(readOperatorToken(null, folder.path).reveal()).toBe("x".repeat(32));
});
