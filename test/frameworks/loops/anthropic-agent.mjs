/** The official package of Messages in a new and an older version, without a framework: the task whole and streamed, counts and failures. */
import assert from "node:assert/strict";
import Newer from "@anthropic-ai/sdk";
import Older from "@anthropic-ai/sdk-older";
import {
  apiKey,
  baseURL,
  brokenGreeting,
  done,
  fails,
  greeted,
  greeting,
  limitedKey,
  model,
  poorKey,
  runTool,
  schemaOf,
  thought,
  tools,
  Workplace,
} from "./scene-agents.mjs";

const max_tokens = 900;
const declared = tools.map((tool) => ({ name: tool.name, description: tool.description, input_schema: schemaOf(tool) }));

/** The newer one has the key as a token, the older one in a header of its own. */
function clientOf(Package, key) {
  const shared = { baseURL: baseURL.replace(/\/v1$/, ""), maxRetries: 0 };
  return new Package(
    Package === Newer ? { ...shared, authToken: key, apiKey: null } : { ...shared, apiKey: key, authToken: null },
  );
}

const asks = {
  whole: (client, request) => client.messages.create(request),
  streamed: (client, request) => client.messages.stream(request).finalMessage(),
};

/** Runs the tools until the model has said what it did. @returns the text */
async function converse(client, ask, messages) {
  const thoughts = [];
  for (;;) {
    const message = await ask(client, { model, max_tokens, thinking: { type: "adaptive" }, messages, tools: declared });
    messages.push({ role: "assistant", content: message.content });
    thoughts.push(...message.content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])));
    const calls = message.content.filter(({ type }) => type === "tool_use");
    if (calls.length === 0) {
      assert.deepEqual(thoughts, [thought]);
      return message.content.map(({ text }) => text ?? "").join("");
    }
    assert.equal(message.stop_reason, "tool_use");
    const results = calls.map(({ id, name, input }) => {
      const content = runTool(name, input);
      return { type: "tool_result", tool_use_id: id, content, ...(content.startsWith("Exit code") && { is_error: true }) };
    });
    messages.push({ role: "user", content: results });
  }
}

for (const Package of [Newer, Older]) {
  const client = clientOf(Package, apiKey);
  for (const ask of Object.values(asks)) {
    const place = new Workplace();
    const messages = [{ role: "user", content: place.task }];
    assert.equal(await converse(client, ask, messages), done);
    place.check();
    messages.push({ role: "user", content: place.again });
    assert.equal(await converse(client, ask, messages), done);
    const { input_tokens } = await client.messages.countTokens({ model, messages: messages.slice(0, -1), tools: declared });
    assert.ok(input_tokens > 0);
  }
  const request = (content) => ({ model, max_tokens, messages: [{ role: "user", content }], tools: declared });
  await assert.rejects(asks.streamed(client, request(brokenGreeting())), Package.APIError);
  await fails(402, () => asks.whole(clientOf(Package, poorKey), request(greeting)));
}

const limited = clientOf(Newer, limitedKey);
const request = { model, max_tokens, messages: [{ role: "user", content: greeting }], tools: declared };
const message = await asks.streamed(limited, request);
assert.equal(message.content[0].text, greeted);
await fails(429, () => asks.streamed(limited, request));
