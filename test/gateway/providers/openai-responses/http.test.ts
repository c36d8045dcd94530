import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Route } from "../../../../src/gateway/models/model.ts";
import { callStream, callWhole, readAll, testKey } from "../../../support/providers/call.ts";
import { aRoute } from "../../../support/providers/models.ts";
import { startProviderStub, type ProviderStub } from "../../../support/providers/provider-stub.ts";
import { event, response, responseEvents } from "../../../support/providers/responses-answers.ts";
import { ManualStream } from "../../../support/providers/stub-answers.ts";

let provider: ProviderStub;
let route: Route;

beforeAll(async () => {
  provider = await startProviderStub();
  route = aRoute({ format: "openai-responses", base_url: provider.url });
});
beforeEach(() => provider.answer(response("Hello there")));
afterAll(() => provider[Symbol.asyncDispose]());

describe("over HTTP", () => {
  test("a call carries our key, and a whole answer arrives with its token counts", async () => {
    const answer = await callWhole({ route });
    expect(answer).toMatchObject({ message: { content: "Hello there" }, finishReason: "stop" });
    expect(answer.usage).toMatchObject({ promptTokens: 10, completionTokens: 5 });
    const { path, headers, streamed } = await provider.called(provider.calls.length);
    expect({ path, streamed }).toEqual({ path: "/v1/responses", streamed: false });
    expect(headers).toMatchObject({ authorization: `Bearer ${testKey}`, "accept-encoding": "identity" });
  });
});

describe("a stream over HTTP", () => {
  const events = responseEvents("Hello there").map(event);

  test("ends with its response, although its connection stays open", async () => {
    const stream = new ManualStream();
    provider.answer(stream.answer);
    const reading = callStream({ route }).then(readAll);
    await stream.write(events.join(""));
    expect(await reading).toMatchObject({ text: "Hello there", finishReasons: ["stop"], last: "end" });
  });
});
