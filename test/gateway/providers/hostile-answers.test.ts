/** What no provider should send is a failure of the provider, or left out; it is never an error of ours. */
import { afterAll, expect, test } from "bun:test";
import { callStream, callWhole, failureOf, readAll } from "../../support/providers/call.ts";
import { aRoute } from "../../support/providers/models.ts";
import { startProviderStub } from "../../support/providers/provider-stub.ts";
import { rawStream, text } from "../../support/providers/stub-answers.ts";

type Format = "openai" | "anthropic" | "google";

const provider = await startProviderStub();
afterAll(() => provider[Symbol.asyncDispose]());
const routeOf = (format: Format) => aRoute({ format, base_url: provider.url });

/** JSON that is read at once, and takes seconds to be written again before that fails. */
const tooDeep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;

test.each<[Format, string]>([
  ["openai", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":${tooDeep}}}]}}]}`],
  ["anthropic", `{"content":[{"type":"tool_use","name":"f","input":${tooDeep}}],"stop_reason":"tool_use"}`],
  ["google", `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${tooDeep}}}]}}]}`],
])("arguments that are nested too deep are a failure of the provider, not of ours: %s", async (format, body) => {
  provider.answer(text(body));
  expect(await failureOf(callWhole({ route: routeOf(format) }))).toMatchObject({ code: "upstream_error" });
  expect(await readAll(await callStream({ route: routeOf(format) }))).toMatchObject({ failure: { code: "upstream_error" } });
});

test("an error, and a list of chunks, that are nested too deep are no answer either", async () => {
  for (const body of [`event: error\ndata: {"code":${tooDeep}}\n\n`, `[{"choices":[{"delta":{"x":${tooDeep}}}]}]`]) {
    provider.answer(text(body));
    expect(await readAll(await callStream({ route: routeOf("openai") }))).toMatchObject({ failure: { code: "upstream_error" } });
  }
});

test("a citation has the fields of the official schema alone", async () => {
  const cited = { url: "https://example.com", title: "Example", start_index: 0, end_index: 5 };
  const annotation = `{"type":"url_citation","index":7,"url_citation":{"content":${tooDeep},${JSON.stringify(cited).slice(1)}}`;
  const other = '{"type":"file","file":{"hash":"x"}}';
  const citation = { type: "url_citation", url_citation: cited };
  provider.answer(
    text(`{"choices":[{"message":{"content":"Hello","annotations":[${annotation},${other}]},"finish_reason":"stop"}]}`),
  );
  expect((await callWhole({ route: routeOf("openai") })).message["annotations"]).toEqual([citation]);
  provider.answer(
    rawStream(`data: {"choices":[{"delta":{"content":"Hello","annotations":[${annotation}]},"finish_reason":"stop"}]}\n\n`),
  );
  const events = await callStream({ route: routeOf("openai") });
  expect(await events.next()).toMatchObject({ delta: { annotations: [citation] } });
});
