import { expect, test } from "bun:test";
import { canonicalEmail } from "../../../src/accounts/workspaces/fields.ts";

test("different spellings of an address belong to one account, and one that only looks like it does not", () => {
  expect(canonicalEmail("Kate.MÜLLER@Example.COM")).toBe("kate.müller@example.com");
  // A provider that verified the address with the Kelvin sign has not verified that with the letter k.
  expect(canonicalEmail("\u212aate@example.com")).toBe("\u212aate@example.com");
  expect(canonicalEmail("\u0130vy@Example.com")).toBe("\u0130vy@example.com");
});
