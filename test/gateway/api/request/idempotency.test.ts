import { describe, expect, test } from "bun:test";
import { hash } from "node:crypto";
import { recordOnBus } from "../../../../src/gateway/admission/message.ts";
import { readClaim } from "../../../../src/gateway/api/request/idempotency.ts";
import type { Claim } from "../../../../src/gateway/field-parts.ts";
import { hashOf, keyRecord } from "../../../support/gateway/key-records.ts";

const bytes = new TextEncoder().encode('{"model":"acme/one"}');

function claimOf(key: string, body = bytes, id = "key-1"): Claim | null {
  const caller = { hash: hashOf("key"), record: recordOnBus(keyRecord({ id })) };
  return readClaim({ headers: new Headers({ "idempotency-key": key }) }, { caller, endpoint: "chat", bytes: body });
}

describe("the claim of a request with an idempotency key", () => {
  test("one key and body is one claim, bare or in quotes, and another body differs only in the body's digest", () => {
    expect(claimOf('"order-1"')).toEqual(claimOf("order-1"));
    const other = claimOf("order-1", new TextEncoder().encode('{"model":"acme/two"}'));
    expect(other?.id).toBe(claimOf("order-1")?.id ?? "");
    expect(other?.body).not.toBe(claimOf("order-1")?.body ?? "");
  });

  test("who guesses the body cannot confirm it without the client's key: one body has another digest under each", () => {
    const digests = [claimOf("order-1"), claimOf("order-2"), claimOf("order-1", bytes, "key-2")].map((claim) => claim?.body);
    expect(new Set(digests).size).toBe(3);
    expect(digests).not.toContain(hash("sha256", bytes, "base64url").slice(0, 22));
  });
});
