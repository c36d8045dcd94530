import { describe, expect, test } from "bun:test";
import { upstreamError } from "../../../../src/gateway/api/answer/upstream-errors.ts";
import { UpstreamFailure } from "../../../../src/gateway/providers/provider.ts";
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
