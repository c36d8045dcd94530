/** No field is dropped in silence: in every wire format an accepted field changes the request to the provider. */
import { describe, expect, test } from "bun:test";
import type { WireFormatName } from "../../../../src/gateway/models/model.ts";
import { wireFormats } from "../../../../src/gateway/providers/registry.ts";
import { supportWords } from "../../../../src/gateway/api/request/requested-model.ts";
import { check, refusal, type Body } from "../../../support/gateway/check-chat.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { route } from "../../../support/providers/routes.ts";
import { fieldCases } from "./field-cases.ts";

/** Cases that ask for the default, which some formats leave out. */
const defaults = new Set(["top_p: 1", "parallel_tool_calls: true"]);

/** The gateway enforces this when it reads the answer (test/gateway/providers/wire/answers.test.ts), since some formats have no field for it. */
const enforcedByGateway = new Set(["parallel_tool_calls: false"]);

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

  describe(`a request in the wire format ${name}`, () => {
    const cases = Object.entries(fieldCases).flatMap(([field, { accepted }]) =>
      accepted
        .filter(([, sentOn]) => sentOn !== undefined)
        .map(([value, , beside]) => ({
          shown: `${field}: ${JSON.stringify(value)}`,
          given: { ...beside, [field]: value },
          beside,
        })),
    );

    test("message names are accepted, and the model sees a user's name", () => {
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

    test.each(cases.filter(({ shown }) => !defaults.has(shown)))(
      "$shown changes the request or is refused",
      ({ shown, given, beside }) => {
        const refused = refusal(given, model);
        if (refused === null && enforcedByGateway.has(shown)) return;
        if (refused === null) expect(sent(given)).not.toBe(sent({ ...beside }));
        else expect(refused).toStartWith("unsupported_parameter ");
      },
    );
  });
}
