/** What a caller of the control and tools APIs learns of an unexpected error. */
import { expect, test } from "bun:test";
import { unexpectedError } from "../../src/accounts/errors.ts";
import { silentLog } from "../../src/kernel/log.ts";

test.each([
  ["a lost connection", "CONNECTION_CLOSED", "unavailable"],
  ["a failed connection", "08006", "unavailable"],
  ["a primary that became a standby", "25006", "unavailable"],
  ["a cancelled statement", "57014", "unavailable"],
  ["a full disk", "53100", "unavailable"],
  ["a mistake of ours", "42601", "internal_error"],
  ["another mistake of ours", "", "internal_error"],
])("%s (%s) is %s", (_, code, answered) => {
  const error = Object.assign(new Error("secret of the database"), { code });
  const answer = unexpectedError(error, { log: silentLog, event: "test" });
  expect(answer.code).toBe(answered as typeof answer.code);
  expect(answer.message).not.toContain("secret");
});
