/**
 * Errors in the shapes of real providers: the cause that a client gets for each, and the field of its own request. Each format's are in
 * test/fixtures/<format>/rejections.json.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bounded, rejected, unbounded } from "../../../support/gateway/rejected.ts";

interface RejectionCase {
  name: string;
  error: unknown;
  why: string | null;
  param: string | null;
  /** Whether the request bounds its output; default: it does. */
  sent?: "unbounded";
}

/** The fixtures belong to this repository and have this shape. */
function casesOf(format: string): RejectionCase[] {
  const file = join(import.meta.dir, "../../../fixtures", format, "rejections.json");
  return JSON.parse(readFileSync(file, "utf8")) as RejectionCase[];
}

describe.each(["openai", "anthropic", "google"] as const)("an error of the format %s", (format) => {
  test.each(casesOf(format))("$name", ({ error, why, param, sent }) => {
    const refused = rejected(format, error, {
      sent: sent === "unbounded" ? unbounded : bounded,
      status: format === "openai" ? 422 : 400,
    });
    expect<unknown>([refused.why, refused.param]).toEqual([why, param]);
  });
});

test("the field of a violation of Google's comes before those of the text, and the error may be in a list", () => {
  const details = [
    { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field: "generation_config.stop_sequences[0]" }] },
  ];
  const refused = rejected("google", [{ error: { code: 400, message: "Invalid value", status: "INVALID_ARGUMENT", details } }]);
  expect(refused.param).toBe("stop[0]");
});
