import { expect, test } from "bun:test";
import { DomainError } from "../../src/accounts/errors.ts";
import { errorResponse } from "../../src/control-api/responses.ts";
import { DeadlineError } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";

test("an error is written as {error: {code, field, message}} with the status of its code", async () => {
  const response = errorResponse(new DomainError("conflict", "Cannot add it twice", { field: "ref" }), silentLog);
  expect(response.status).toBe(409);
  expect(await response.json()).toEqual({ error: { code: "conflict", field: "ref", message: "Cannot add it twice" } });
});

test.each(["CONNECTION_CLOSED", "CONNECT_TIMEOUT", "ECONNREFUSED", "57014", "57P01", "55P03", "40001", "53300"])(
  "a database failure with %s is answered with 503: the outcome is unknown, and the same request may succeed later",
  async (code) => {
    expect(errorResponse(Object.assign(new Error("refused"), { code }), silentLog).status).toBe(503);
  },
);

test("a database timeout is answered with 503", () => {
  expect(errorResponse(new DeadlineError("The request did not end"), silentLog).status).toBe(503);
});

test("any other error is answered with 500, without its text", async () => {
  for (const error of [new TypeError("a secret"), Object.assign(new Error("a secret"), { code: "23505" }), "a secret"]) {
    const response = errorResponse(error, silentLog);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
  }
});
