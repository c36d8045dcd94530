/**
 * What Claude Code 2.1.332 sends, as it was seen: each body is read, or refused in the way after which it goes on. Texts are as long as they
 * were, and say nothing.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { messagesFormat } from "../../../../src/gateway/api/messages/request.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { filled } from "../responses/recorded/recorded.ts";
import { bodyOf, ignoredBy, problemOf, refusal, type Fields } from "./reading.ts";

const plain = { model: chatModel(["tools"]) };

function recorded(name: string): Fields {
  return filled(JSON.parse(readFileSync(join(import.meta.dirname, "recorded", `${name}.json`), "utf8"))) as Fields;
}

function toolsOf(fields: Fields): string[] {
  return (bodyOf(fields)["tools"] as { function: { name: string } }[]).map(({ function: called }) => called.name);
}

describe("a request is read", () => {
  test.each([
    ["first", "context_management, max_tokens, thinking.display"],
    ["default-model", "context_management, max_tokens, thinking.display"],
    ["no-betas", "max_tokens"],
    ["thinking-back", "context_management, max_tokens, thinking.display"],
    ["tool-search", "context_management, max_tokens, thinking.display"],
  ])("%s, without %s", (name, left) => expect(ignoredBy(recorded(name))).toBe(left));

  test("by a model that only takes tools, too, without its hints", () => {
    expect(ignoredBy(recorded("first"), plain)).toBe(
      "cache_control, context_management, max_tokens, output_config.effort, thinking, thinking.display",
    );
  });

  test("with the tools that its search has found, and no others that are deferred", () => {
    expect(toolsOf(recorded("first"))).not.toContain("DeferredToolPlaceholder");
    const found = toolsOf(recorded("tool-search"));
    expect(found).toEqual(expect.arrayContaining(["Bash", "WebFetch"]));
    expect(found).not.toContain("DeferredToolPlaceholder");
  });

  test("for its count, without a bound on output", () => {
    const { readBody } = messagesFormat({ version: "2023-06-01", onlyCounts: true });
    const read = readBody("acme/one", { request: recorded("count-tokens"), model: plain.model });
    expect(read).toMatchObject({ messages: [{ role: "user", content: "foo" }] });
    expect(read["tools"]).toHaveLength(11);
  });
});

test("an image that a tool shows is refused in the words after which the next request goes without it", () => {
  const { param, message } = problemOf(recorded("image-result"));
  expect(param).toBe("messages[3].content[0]");
  expect(message).toStartWith("messages.3.content.0.image.source.base64.media_type: Input should be ");
});

test("its search of the web, a request of its own, is refused alone", () => {
  expect(refusal(recorded("web-search"))).toBe("unsupported_parameter tools[0].type");
});
