/** A whole answer that is assembled from the stream that came in its place. */
import { expect, test } from "bun:test";
import { openaiStreamDecoder } from "../../../../src/gateway/providers/openai/stream.ts";
import { assembledAnswer } from "../../../../src/gateway/providers/transport/other-forms.ts";
import { failureOf } from "../../../support/failure-of.ts";

const chunk = (choice: string): string => `data: {"choices":[${choice}]}\n\n`;
const assembled = (...events: string[]) => assembledAnswer(events.join(""), openaiStreamDecoder());

test("a provider's field named __proto__ changes nothing but the answer", async () => {
  const logprobs = '{"__proto__":{"ownKey":{"id":"x"}},"content":[{"__proto__":{"polluted":true}}]}';
  const answer = await assembled(chunk(`{"delta":{"content":"a"},"finish_reason":"stop","logprobs":${logprobs}}`));
  expect(answer.message.content).toBe("a");
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("ownKey");
  expect("polluted" in {}).toBe(false);
});

test("a large index makes no long list", async () => {
  const citation = {
    type: "url_citation",
    index: 4_294_967_294,
    url_citation: { url: "u", title: "t", start_index: 0, end_index: 1 },
  };
  const delta = JSON.stringify({ content: "a", annotations: [citation] });
  const { message } = await assembled(chunk(`{"delta":${delta},"finish_reason":"stop"}`));
  expect(message["annotations"]).toHaveLength(1);
});

test("a failure after the finish reason leaves the answer whole, as in a stream", async () => {
  const answer = await assembled(
    chunk('{"delta":{"content":"a"},"finish_reason":"stop"}'),
    'data: {"error":{"message":"late"}}\n\n',
  );
  expect(answer.message.content).toBe("a");
});

test("a call that begins behind the finish reason and breaks off is a failure", async () => {
  const call = (id: string, text: string, finish: string): string =>
    chunk(
      `{"delta":{"tool_calls":[{"index":${id},"id":"c${id}","function":{"name":"f","arguments":${JSON.stringify(text)}}}]},"finish_reason":${finish}}`,
    );
  expect(await failureOf(assembled(call("0", "{}", '"tool_calls"'), call("1", '{"city":"Pa', "null")))).toMatchObject({
    code: "upstream_error",
  });
});
