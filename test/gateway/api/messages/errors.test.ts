/** Errors of Messages: the API's types, the headers and the texts that agents act on. */
import { describe, expect, test } from "bun:test";
import { messagesErrors, messageErrorType } from "../../../../src/gateway/api/messages/errors.ts";
import { nameRejectedField } from "../../../../src/gateway/api/call/failures.ts";
import { upstreamError } from "../../../../src/gateway/api/answer/upstream-errors.ts";
import { errorTable, GatewayError, type ErrorCode } from "../../../../src/kernel/errors.ts";
import { Rejection } from "../../../../src/gateway/providers/rejection.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { route } from "../../../support/providers/routes.ts";
import { checked, user } from "./reading.ts";

interface Body {
  type: string;
  error: { type: string; message: string; code: string; param: string | null; details?: unknown };
  request_id: string | null;
}

async function answered(
  error: GatewayError,
  request: string | null = null,
): Promise<{ body: Body; headers: Headers; status: number }> {
  const response = messagesErrors.response(error, { "x-a": "1" }, request);
  return { body: (await response.json()) as Body, headers: response.headers, status: response.status };
}

test.each<[ErrorCode, ReturnType<typeof messageErrorType>]>([
  ["invalid_request", "invalid_request_error"],
  ["unsupported_parameter", "invalid_request_error"],
  ["upstream_rejected", "invalid_request_error"],
  ["invalid_api_key", "authentication_error"],
  ["insufficient_credit", "billing_error"],
  ["key_spend_limit_exceeded", "billing_error"],
  ["account_spend_limit_exceeded", "billing_error"],
  ["gateway_disabled", "permission_error"],
  ["model_not_found", "not_found_error"],
  ["request_too_large", "request_too_large"],
  ["rate_limited", "rate_limit_error"],
  ["upstream_rate_limited", "rate_limit_error"],
  ["internal_error", "api_error"],
  ["upstream_error", "api_error"],
  ["upstream_auth", "api_error"],
  ["model_unavailable", "api_error"],
  ["auth_unavailable", "overloaded_error"],
  ["billing_unavailable", "overloaded_error"],
  ["upstream_timeout", "timeout_error"],
])("%s has the type %s", (code, type) => expect(messageErrorType(code)).toBe(type));

test("the body has our code and field besides the API's own", async () => {
  const { body, headers, status } = await answered(
    new GatewayError("model_not_found", { message: "No.", param: "model" }),
    "req-1",
  );
  expect(body).toEqual({
    type: "error",
    error: { type: "not_found_error", message: "No.", code: "model_not_found", param: "model" },
    request_id: "req-1",
  });
  expect([status, headers.get("x-a")]).toEqual([404, "1"]);
});

test("an error that a retry cannot mend says so, and one that it may mend does not", async () => {
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    const { headers, status } = await answered(new GatewayError(code));
    const usual = status < 429 ? "false" : null;
    const said = new GatewayError(code).headers["x-should-retry"] ?? usual;
    expect([code, headers.get("x-should-retry")]).toEqual([code, said]);
  }
});

test("details are written where there are some", async () => {
  const { body } = await answered(new GatewayError("unsupported_parameter", { details: { unsupported: ["thread"] } }));
  expect(body.error.details).toEqual({ unsupported: ["thread"] });
});

describe("a prompt that its provider finds too long", () => {
  const told = async (words: number, max_tokens: number, contextLength: number) => {
    const model = chatModel([], { contextLength, maxOutputTokens: 20_000 });
    const rejection = new Rejection("400", { why: "too_long", fields: [["messages"]], paths: [] });
    const { chat } = checked({ max_tokens, messages: [user("word ".repeat(words))] }, { model });
    nameRejectedField(rejection, chat, { model, route: route("acme") });
    const { body } = await answered(upstreamError(rejection, route("acme")));
    return { estimate: chat.promptEstimate(), body };
  };

  test("has the numbers after which an agent shortens the conversation", async () => {
    const { estimate, body } = await told(3_000, 100, 1_000);
    expect(estimate).toBeGreaterThan(1_000);
    expect(body.error.message).toBe(`prompt is too long: ${estimate} tokens > 1000 maximum`);
    expect(body.error).toMatchObject({ type: "invalid_request_error", code: "upstream_rejected" });
  });

  test("says by how much the bound on output has to fall, if that is enough", async () => {
    const { estimate, body } = await told(500, 900, 1_000);
    expect(estimate).toBeLessThan(1_000);
    expect(body.error.message).toStartWith(`input length and \`max_tokens\` exceed context limit: ${estimate} + 900 > 1000, `);
  });

  test("is said to be too long although the gateway counts less", async () => {
    const { body } = await told(5, 10, 1_000);
    expect(body.error.message).toBe("prompt is too long: 1001 tokens > 1000 maximum");
  });

  test("begins with the same words for a model without an announced context", async () => {
    expect((await told(5, 10, 0)).body.error.message).toStartWith("prompt is too long: ");
  });
});
