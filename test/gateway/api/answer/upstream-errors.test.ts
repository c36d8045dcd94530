import { describe, expect, test } from "bun:test";
import { streamError, upstreamError } from "../../../../src/gateway/api/answer/upstream-errors.ts";
import { UpstreamFailure, type UpstreamCode } from "../../../../src/gateway/providers/provider.ts";
import { errorBody, errorResponse } from "../../../../src/kernel/errors.ts";
import { ownKey } from "../../../support/gateway/own-keys.ts";
import { route } from "../../../support/providers/routes.ts";

const secret = "provider text with a prompt";

describe("a failure before the response has started", () => {
  test.each([
    ["upstream_rejected", 400],
    ["upstream_rate_limited", 429],
    ["upstream_auth", 502],
    ["upstream_error", 502],
    ["upstream_timeout", 504],
  ] as const)("the failure %s is status %p with our own message", (code: UpstreamCode, status) => {
    const error = upstreamError(new UpstreamFailure(code, secret), route("acme"));
    expect(error.status).toBe(status);
    expect(JSON.stringify(errorBody(error))).not.toContain(secret);
  });

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

test.each([
  ["upstream_timeout", "upstream_timeout"],
  ["upstream_error", "upstream_error"],
  ["upstream_rate_limited", "upstream_error"],
  ["upstream_auth", "upstream_error"],
  ["upstream_rejected", "upstream_error"],
] as const)("in a stream the failure %s is the error %s of type api_error", (code, shown) => {
  expect(errorBody(streamError(new UpstreamFailure(code, secret))).error).toMatchObject({
    code: shown,
    type: "api_error",
    param: null,
  });
});
