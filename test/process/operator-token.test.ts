import { expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOperatorToken } from "../../src/process/operator-token.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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
