/** Nothing is dropped in silence: what is accepted for a model changes what its provider is sent, in every format. */
import { describe, expect, test } from "bun:test";
import type { WireFormatName } from "../../../../src/gateway/models/model.ts";
import { wireFormats } from "../../../../src/gateway/providers/registry.ts";
import { supportWords } from "../../../../src/gateway/api/request/supports.ts";
import { check, refusal, type Body } from "../../../support/gateway/check-chat.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { route } from "../../../support/providers/routes.ts";
import { fieldCases } from "./field-cases.ts";

/** Ask for what happens anyway, and are left out where a provider has another word for it, or none. */
const defaults = new Set(["top_p: 1", "parallel_tool_calls: true"]);

/** Seen to by us where the answer is read, in every format (test/gateway/providers/wire/one-call.test.ts); not every one has a word for it. */
const keptByUs = new Set(["parallel_tool_calls: false"]);

const formats = (Object.keys(wireFormats) as WireFormatName[]).filter((name) => name !== "sandbox");

for (const name of formats) {
  const format = wireFormats[name]?.format;
  const spoken = route("acme", { format: name });
  const model = chatModel(Object.keys(supportWords), { routes: [spoken] });

  function sent(fields: Body): string {
    const { body, streamed } = check(fields, model);
    const generation = "gen-abcdefghijklmnopqrstuvwxyz";
    return JSON.stringify(format?.encode({ generation, route: spoken, chat: body, maxOutputTokens: 100, streamed }));
  }

  describe(`to a provider that speaks ${name}`, () => {
    const cases = Object.entries(fieldCases).flatMap(([field, { accepted }]) =>
      accepted
        .filter(([, sentOn]) => sentOn !== undefined)
        .map(([value, , beside]) => ({
          shown: `${field}: ${JSON.stringify(value)}`,
          given: { ...beside, [field]: value },
          beside,
        })),
    );

    test("names of messages are taken, and the model sees that of a user", () => {
      const named = (user: object, answer: object, result: object) => ({
        messages: [
          { role: "user", content: "Hello", ...user },
          { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }], ...answer },
          { role: "tool", tool_call_id: "a", content: "42", ...result },
        ],
      });
      expect(refusal(named({ name: "ann" }, { name: "host" }, { name: "f" }), model)).toBeNull();
      expect(sent(named({ name: "ann" }, {}, {}))).toContain("ann");
      expect(sent(named({}, {}, { name: "label" }))).toBe(sent(named({}, {}, {})));
    });

    test.each(cases.filter(({ shown }) => !defaults.has(shown)))("$shown", ({ shown, given, beside }) => {
      const refused = refusal(given, model);
      if (refused === null && keptByUs.has(shown)) return;
      if (refused === null) expect(sent(given)).not.toBe(sent({ ...beside }));
      else expect(refused).toStartWith("unsupported_parameter ");
    });
  });
}
