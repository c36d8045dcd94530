import { expect, test } from "bun:test";
import { message } from "../../../support/providers/anthropic-answers.ts";
import { callWhole, testKey } from "../../../support/providers/call.ts";
import { aRoute } from "../../../support/providers/models.ts";
import { startProviderStub } from "../../../support/providers/provider-stub.ts";

test("a call carries our key in the API's header and does not ask for compression", async () => {
  await using provider = await startProviderStub(message("Hello there"));
  await callWhole({ route: aRoute({ format: "anthropic", base_url: provider.url }) });
  const { path, headers } = await provider.called(provider.calls.length);
  expect(path).toBe("/v1/messages");
  expect(headers).toMatchObject({
    "x-api-key": testKey,
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
    "accept-encoding": "identity",
  });
  expect(headers).not.toContainKey("authorization");
});
