import { expect, test } from "bun:test";
import fc from "fast-check";
import { googleConversation } from "../../../../src/gateway/providers/google/request.ts";
import { googleUnsupportedField } from "../../../../src/gateway/providers/google/client-fields.ts";
import type { ChatMessage } from "../../../../src/gateway/providers/provider.ts";

const newer = "gemini-3.5-flash";
const older = "gemini-2.5-flash";

const words = fc.string({ unit: "grapheme", maxLength: 8 });
const content = fc.oneof(
  words,
  fc.array(words, { minLength: 1, maxLength: 3 }).map((texts) => texts.map((text) => ({ type: "text", text }))),
);
const spoken = fc.record({ role: fc.constantFrom("system", "developer", "user", "assistant"), content });
/** Parallel calls, some of their results, and ids that occur again later. */
const step = fc
  .array(
    fc.record({
      id: fc.constantFrom("a", "b", "c"),
      name: fc.constantFrom("f", "g"),
      args: fc.dictionary(words, words),
      output: words,
    }),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((calls): ChatMessage[] => [
    {
      role: "assistant",
      content: null,
      tool_calls: calls.map(({ id, name, args }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(args) },
      })),
    },
    ...calls.map(({ id, output }) => ({ role: "tool", tool_call_id: id, content: output })),
  ]);
const conversation = fc
  .array(
    fc.oneof(
      spoken.map((message): ChatMessage[] => [message]),
      step,
    ),
    { maxLength: 8 },
  )
  .map((groups) => groups.flat());

const textsOf = (value: unknown): string =>
  typeof value === "string" ? value : Array.isArray(value) ? value.map((part: { text: string }) => part.text).join("") : "";
const said = (messages: ChatMessage[], ...roles: string[]) =>
  messages
    .filter(({ role }) => roles.includes(role))
    .map((message) => textsOf(message.content))
    .join("");

interface Part {
  text?: string;
  thoughtSignature?: string;
  functionCall?: { id: string; name: string; args: object };
  functionResponse?: { id: string; name: string; response: { output: string } };
}

test("every text of a conversation arrives, in order and with its role", () => {
  fc.assert(
    fc.property(conversation, (messages) => {
      const { instruction, contents } = googleConversation(messages, older);
      const parts = (role: string) => contents.filter((turn) => turn.role === role).flatMap((turn) => turn.parts as Part[]);
      const written = (role: string) =>
        parts(role)
          .map((part) => part.text ?? "")
          .join("");
      const areInstructionsAlone =
        instruction !== "" && said(messages, "user", "assistant", "tool") === "" && contents.length === 1;
      expect(written("user")).toBe(areInstructionsAlone && parts("user")[0]?.text ? "Begin." : said(messages, "user"));
      expect(written("model")).toBe(said(messages, "assistant"));
      expect(
        parts("user")
          .map((part) => part.functionResponse?.response.output ?? "")
          .join(""),
      ).toBe(said(messages, "tool"));
      expect(instruction.replaceAll("\n\n", "")).toBe(said(messages, "system", "developer").replaceAll("\n\n", ""));
    }),
  );
});

test("roles alternate, and no turn and no text is empty", () => {
  fc.assert(
    fc.property(conversation, fc.constantFrom(newer, older), (messages, model) => {
      const { contents } = googleConversation(messages, model);
      for (const [index, { role, parts }] of contents.entries()) {
        expect(role).not.toBe(contents[index - 1]?.role);
        expect(parts).not.toBeEmpty();
        for (const part of parts as Part[]) expect(part.text).not.toBe("");
      }
    }),
  );
});

test("every result names the function of the latest call with its id, and every step of calls is signed once if required", () => {
  fc.assert(
    fc.property(conversation, (messages) => {
      const { contents } = googleConversation(messages, newer);
      const names = new Map<string, string>();
      for (const { functionCall, functionResponse } of contents.flatMap(({ parts }) => parts as Part[])) {
        if (functionCall) names.set(functionCall.id, functionCall.name);
        if (functionResponse) expect(functionResponse.name).toBe(names.get(functionResponse.id) ?? "");
      }
      const steps = messages.filter((message) => message["tool_calls"] !== undefined).length;
      expect(JSON.stringify(contents).split('"thoughtSignature":').length - 1).toBe(steps);
    }),
  );
});

test("a conversation is refused only if nothing of it could be sent", () => {
  fc.assert(
    fc.property(conversation, (messages) => {
      const unsupportedField = googleUnsupportedField({ model: "stub/model", messages });
      const { contents } = googleConversation(messages, newer);
      expect(unsupportedField?.param).toBe(contents.length === 0 ? "messages" : undefined);
    }),
  );
});
