import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { callAnything, callWhole, failureOf } from "../../support/providers/call.ts";
import { aRoute } from "../../support/providers/models.ts";
import { startProviderStub } from "../../support/providers/provider-stub.ts";
import { error, text } from "../../support/providers/stub-answers.ts";

let provider = await startProviderStub();
let route = aRoute({ base_url: provider.url });
beforeEach(async () => {
  await provider[Symbol.asyncDispose]();
  provider = await startProviderStub();
  route = aRoute({ base_url: provider.url });
});
afterAll(() => provider[Symbol.asyncDispose]());

describe("an error is classified by its body before its status", () => {
  const errors: [number, string | null, string][] = [
    [400, null, "upstream_rejected"],
    [400, "invalid_api_key", "upstream_auth"],
    [401, null, "upstream_auth"],
    [404, null, "upstream_rejected"],
    [422, null, "upstream_rejected"],
    [429, null, "upstream_rate_limited"],
    [429, "insufficient_quota", "upstream_auth"],
    [500, null, "upstream_error"],
    [529, "overloaded_error", "upstream_error"],
  ];
  for (const streamed of [false, true]) {
    test.each(errors)(`%p %p is %p (streamed: ${streamed})`, async (status, code, ours) => {
      provider.answer(error(status, code));
      expect((await failureOf(callAnything(streamed, { route }))).code as string).toBe(ours);
    });
  }

  test("a huge error page is read only up to its bound", async () => {
    provider.answer(text("x".repeat(5_000_000), { status: 503, type: "text/html" }));
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
  });

  test("a context overflow is reported in the words that agents recognize", async () => {
    provider.answer(error(400, "context_length_exceeded", "the provider's own words"));
    const failure = await failureOf(callWhole({ route }));
    expect(failure.hint).toContain("maximum context length");
    expect(`${failure.message} ${failure.hint}`).not.toContain("the provider's own words");
  });

  test("a provider that cannot be reached is upstream_error", async () => {
    await provider[Symbol.asyncDispose]();
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
    provider = await startProviderStub();
  });

  test("a host name that does not exist is upstream_error", async () => {
    const failure = await failureOf(callWhole({ route: aRoute({ base_url: "http://does-not-exist.invalid/v1" }) }));
    expect(failure.code).toBe("upstream_error");
  });

  test("an unsupported format is upstream_error", async () => {
    const failure = await failureOf(callWhole({ route: aRoute({ base_url: provider.url, format: "google" }) }));
    expect(failure.code).toBe("upstream_error");
  });
});
