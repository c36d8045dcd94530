import { expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOperatorToken } from "../../src/process/operator-token.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("the token is made on first start, for its owner's eyes only, and kept", async () => {
  await using folder = await temporaryFolder();
  const token = readOperatorToken(null, folder.path).reveal();
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(join(folder.path, "operator-token")).mode & 0o777).toBe(0o600);
  expect(readOperatorToken(null, folder.path).reveal()).toBe(token);
});

test("a file with a token that could be guessed stops the start, and is named", async () => {
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
