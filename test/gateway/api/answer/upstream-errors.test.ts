import { describe, expect, test } from "bun:test";
import { streamError, tooLong, upstreamError } from "../../../../src/gateway/api/answer/upstream-errors.ts";
import { messagesErrors } from "../../../../src/gateway/api/messages/errors.ts";
import { failureOf, responsesErrors } from "../../../../src/gateway/api/responses/answer.ts";
import { UpstreamFailure } from "../../../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../../../src/gateway/providers/registry.ts";
import { errorResponse } from "../../../../src/kernel/errors.ts";
import { ownKey } from "../../../support/gateway/own-keys.ts";
import { route } from "../../../support/providers/routes.ts";

const secret = "provider text with a prompt";

describe("a failure before the response has started", () => {
  test("both retry headers of a provider's rate limit say 5 s", () => {
    const { headers } = errorResponse(upstreamError(new UpstreamFailure("upstream_rate_limited", secret), route("acme")));
    expect(headers.get("retry-after")).toBe("5");
    expect(headers.get("retry-after-ms")).toBe("5000");
    expect(headers.get("x-should-retry")).toBe("true");
  });

  test("the message ends with our hint", () => {
    const hint = "this model's maximum context length is 8192 tokens";
    expect(upstreamError(new UpstreamFailure("upstream_rejected", secret, hint), route("acme")).message).toEndWith(`: ${hint}`);
  });

  test("a refused own key is called the workspace's own, and the service's own key is not", () => {
    const failure = new UpstreamFailure("upstream_auth", secret);
    const error = upstreamError(failure, { ...route("acme"), ownKey: ownKey({ provider: "acme" }) });
    expect(error.message).toBe("acme refused the workspace's own key for acme");
    expect(error.headers).toEqual({ "x-should-retry": "false" });
    expect(upstreamError(failure, route("acme")).message).toContain("the service's own credentials");
  });
});

describe("a prompt that is too long", () => {
  const words = "prompt is too long: 250000 tokens > 200000 maximum";
  const told: Record<string, unknown> = {
    openai: { error: { code: "context_length_exceeded", message: words } },
    "openai-responses": { error: { code: "context_length_exceeded", message: words } },
    anthropic: { type: "error", error: { type: "invalid_request_error", message: words } },
    google: {
      error: {
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "The input token count exceeds the maximum number of tokens allowed",
      },
    },
  };

  test.each(Object.entries(told))("is the same error for every API, before a stream and in it: %s", async (format, body) => {
    const failure = wireFormats[format as "openai"].format.classify(400, JSON.stringify(body));
    for (const error of [upstreamError(failure, route("acme")), streamError(failure)]) {
      expect(tooLong(error)).toMatchObject({ size: null });
      expect(JSON.stringify(await messagesErrors.response(error, {}, null).json())).toContain("prompt is too long: ");
      expect(await responsesErrors.response(error, {}, null).json()).toMatchObject({
        error: { code: "context_length_exceeded" },
      });
      expect(failureOf(error).code).toBe("context_length_exceeded");
    }
    const other = upstreamError(wireFormats[format as "openai"].format.classify(400, "{}"), route("acme"));
    expect(tooLong(other)).toBeNull();
  });
});
